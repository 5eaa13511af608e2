"""The partitions that this broker has a replica of."""
