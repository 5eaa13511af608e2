"""The classic protocol: members join a generation, and their leader assigns its work."""
