"""The storage engine: partition logs on disk, byte-compatible with Apache Kafka's."""
