"""One module per Kafka API: what this node answers."""
