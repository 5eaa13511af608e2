"""Log compaction: of every key, the records before its last one go (`cleanup.policy=compact`).

`cleanable` decides which part of which log is due, `offset_map` knows every key's last offset,
`transactions` which batches were aborted, `retained` what is left of a batch. `cleaner` walks the
segments and writes them anew, off the event loop; `replacement` puts the new ones in place; and
`compact` runs the whole.

Not here: the timer that asks what is due (snakka.storage.upkeep), and segments that go as a whole
(snakka.storage.retention).
"""
