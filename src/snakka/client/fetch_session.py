"""What a consumer and one node agree on having asked for (KIP-227). Pure.

A fetch names only partitions whose position changed and those no longer wanted; the node remembers
the rest. Where the node keeps no session, every fetch names everything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.client.list_offsets import IsolationLevel
from snakka.client.offsets import by_topic
from snakka.client.records import TopicPartition
from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from snakka.protocol.types import Uuid

_FIRST_EPOCH: Final = 0  # asks for a new session
_EPOCHS: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How a consumer fetches, under Kafka's names."""

    fetch_min_bytes: int
    fetch_max_bytes: int
    max_partition_fetch_bytes: int
    fetch_max_wait_ms: int
    isolation_level: IsolationLevel
    check_crcs: bool
    client_rack: str


class FetchFrom(NamedTuple):
    """Where to fetch, and what the consumer knows of the partition."""

    offset: int
    leader_epoch: int
    topic_id: Uuid


class SessionRequest(NamedTuple):
    session_id: int
    epoch: int
    changed: Mapping[TopicPartition, FetchFrom]
    forgotten: Mapping[TopicPartition, Uuid]


class FetchSession:
    """The session with one node."""

    def __init__(self) -> None:
        self._id = 0
        self._epoch = _FIRST_EPOCH
        self._held: dict[TopicPartition, FetchFrom] = {}

    def next_request(self, wanted: Mapping[TopicPartition, FetchFrom]) -> SessionRequest:
        """What to ask so that the node serves exactly what is wanted."""
        if any(
            partition in self._held and self._held[partition].topic_id != each.topic_id
            for partition, each in wanted.items()
        ):
            self.reset()  # a topic was made anew, and a session knows partitions by name, too
        changed = {
            partition: each
            for partition, each in wanted.items()
            if self._held.get(partition) != each
        }
        gone = {each: held.topic_id for each, held in self._held.items() if each not in wanted}
        self._held = dict(wanted)
        return SessionRequest(self._id, self._epoch, changed, gone)

    def answered(self, session_id: int) -> None:
        """The node has carried the last request out."""
        if session_id == 0:
            self.reset()
            return
        self._id = session_id
        self._epoch = self._epoch + 1 if self._epoch + 1 < _EPOCHS else 1

    def reset(self) -> None:
        """Nothing that was agreed on holds: the next fetch begins a new session."""
        self._id = 0
        self._epoch = _FIRST_EPOCH
        self._held = {}


def fetch_request(settings: FetchSettings, asked: SessionRequest) -> FetchRequest:
    """What a session asks, as a request."""
    return FetchRequest(
        max_wait_ms=settings.fetch_max_wait_ms,
        min_bytes=settings.fetch_min_bytes,
        max_bytes=settings.fetch_max_bytes,
        isolation_level=settings.isolation_level,
        session_id=asked.session_id,
        session_epoch=asked.epoch,
        topics=[
            FetchTopic(
                topic=topic,
                topic_id=partitions[0][1].topic_id,
                partitions=[
                    FetchPartition(
                        partition=index,
                        current_leader_epoch=each.leader_epoch,
                        fetch_offset=each.offset,
                        partition_max_bytes=settings.max_partition_fetch_bytes,
                    )
                    for index, each in partitions
                ],
            )
            for topic, partitions in by_topic(asked.changed)
        ],
        forgotten_topics_data=[
            ForgottenTopic(
                topic=topic,
                topic_id=partitions[0][1],
                partitions=[index for index, _ in partitions],
            )
            for topic, partitions in by_topic(asked.forgotten)
        ],
        rack_id=settings.client_rack,
    )
