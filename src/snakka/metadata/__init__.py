"""What the cluster is: records of the metadata log replayed into an immutable image."""
