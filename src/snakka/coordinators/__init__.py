"""State machines that keep their state in the partitions of an internal topic."""
