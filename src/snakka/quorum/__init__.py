"""The metadata quorum: KRaft as values and decisions (KIP-595, 630, 853, 996).

`replica.py` is the door: events and the time go in, a `Ready` comes out that says what to write,
sync and send. Not here: sockets, files and clocks (the driver), what the records mean (metadata).
"""
