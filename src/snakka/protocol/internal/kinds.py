"""The kinds of records that say their type before their fields; frames.py knows how."""

from snakka.protocol.schema import Message


class MetadataRecord(Message):
    """A record of the metadata log. `key` is its type."""


class RemoteLogRecord(Message):
    """A record of the remote log metadata topic. `key` is its type."""


class CoordinatorKey(Message):
    """The key of a record that a coordinator writes. `key` is the type of the record."""


class CoordinatorValue(Message):
    """The value of a record that a coordinator writes. `key` is the type of the record."""
