"""What members of the classic protocol say inside JoinGroup and SyncGroup, read and written here.

Where all members are classic ones the broker passes these bytes on unread.
"""

import struct
from collections.abc import Iterable
from typing import Final

from snakka.coordinators.groups.consumer.member import Partition, Partitions
from snakka.coordinators.groups.consumer.stored import by_topic
from snakka.coordinators.groups.consumer.topics import Topics
from snakka.protocol.codec import decoder, encode
from snakka.protocol.errors import MalformedError
from snakka.protocol.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)

_VERSION: Final = struct.Struct(">h")
_VERSION_MAX: Final = 3


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    version = _read_version(metadata)
    read = decoder(ConsumerProtocolSubscription, version)
    subscription: ConsumerProtocolSubscription = read(metadata, _VERSION.size)[0]
    return subscription


def read_assignment(assignment: bytes) -> list[TopicPartition]:
    """What a member's leader has assigned to it; nothing where it has not yet."""
    if not assignment:
        return []
    version = _read_version(assignment)
    read = decoder(ConsumerProtocolAssignment, version)
    assigned: list[TopicPartition] = read(assignment, _VERSION.size)[0].assigned_partitions
    return assigned


def write_assignment(partitions: Partitions, topics: Topics, metadata: bytes) -> bytes:
    """In the version that the member speaks, by its own metadata."""
    version = _read_version(metadata)
    named = [(topics.find_by_id(each), found) for each, found in by_topic(partitions).items()]
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            TopicPartition(topic=topic.name, partitions=indexes)
            for topic, indexes in named
            if topic is not None
        ]
    )
    return _VERSION.pack(version) + bytes(encode(message, version))


def find_partitions(named: Iterable[TopicPartition], topics: Topics) -> Partitions:
    """Those whose topics are there."""
    known = [(topics.find(each.topic), each.partitions) for each in named]
    return frozenset(
        Partition(topic.topic_id, index)
        for topic, indexes in known
        if topic is not None
        for index in indexes
    )


def _read_version(data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise MalformedError("consumer protocol", len(data), "truncated version")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise MalformedError("consumer protocol", 0, f"version {version}")
    return min(version, _VERSION_MAX)
