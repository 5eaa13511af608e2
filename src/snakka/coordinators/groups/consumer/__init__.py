"""The consumer protocol (KIP-848): the coordinator assigns partitions, members follow in steps."""
