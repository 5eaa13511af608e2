"""The composition root: builds a node from its leaves to its listeners, and takes it apart again.

What all nodes have in common (ground.py) comes first, then the metadata quorum with its controller
(metadata.py), then, where the node is one, the broker that follows it (broker.py). Each part is
entered after what it needs, and left before it.
"""
