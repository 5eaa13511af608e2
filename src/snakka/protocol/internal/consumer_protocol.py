"""What members of a classic group tell each other inside JoinGroup and SyncGroup."""

from snakka.protocol.schema import Message, Struct, field
from snakka.protocol.types import Int32


class TopicPartition(Struct):
    topic: str
    partitions: list[Int32]


class ConsumerProtocolSubscription(Message, versions="0-3"):
    topics: list[str]
    user_data: bytes | None = None
    owned_partitions: list[TopicPartition] = field("1+", ignorable=True)
    generation_id: Int32 = field("2+", default=-1, ignorable=True)
    rack_id: str | None = field("3+", default=None, ignorable=True)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    assigned_partitions: list[TopicPartition]
    user_data: bytes | None = None
