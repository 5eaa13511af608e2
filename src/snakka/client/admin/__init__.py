"""What an administrator asks of a cluster: topics, groups, configuration, nodes.

Functions of a `Cluster`. Where several things are asked for at once, each has its own outcome:
a result, or the error that stands in its place.
"""
