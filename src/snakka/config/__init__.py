"""Configuration: Kafka's keys with their types, defaults and rules; imports nothing else of ours.

sources.py reads files, environment and flags; loading.load_broker_config() checks them and makes a
BrokerConfig. TopicConfig and GroupConfig stand on that. describing.py and altering.py are what
DescribeConfigs and IncrementalAlterConfigs need. Not here: whoever acts on a value.
"""
