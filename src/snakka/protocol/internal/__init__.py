"""The records that brokers and clients write into logs, one module per topic or kind of group."""
