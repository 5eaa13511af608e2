"""The end of offsets and groups: OffsetDelete, DeleteGroups, deleted topics, and retention.

A position expires some time after its group has become empty, or was last committed where the group
only keeps offsets or no longer subscribes to the topic (KIP-211). A group without positions and
members goes with them.
"""

from collections.abc import Iterable, Iterator

from snakka.coordinators.decision import Decision, NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic import stored
from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.sessions import Sessions
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.stored import group_tombstones
from snakka.coordinators.groups.offsets import (
    NO_EXPIRY,
    CommittedOffset,
    Offsets,
    TopicPartition,
    tombstone,
)
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.groups.table import ConsumerGroupTable, GroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


class Removals:
    """Decides what is to be forgotten."""

    def __init__(
        self,
        groups: GroupTable,
        consumer_groups: ConsumerGroupTable,
        offsets: Offsets,
        sessions: Sessions,
        settings: GroupSettings,
    ) -> None:
        self._groups = groups
        self._consumer_groups = consumer_groups
        self._offsets = offsets
        self._sessions = sessions
        self._settings = settings

    def delete_offsets(self, request: OffsetDeleteRequest) -> Decision[OffsetDeleteResponse]:
        group = self._get(request.group_id)
        is_classic = isinstance(group, ClassicGroup) and not group.is_consumer
        if is_classic and group.state != State.EMPTY:
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
        known = set(self._offsets.known_partitions(group.group_id))
        records: list[NewRecord] = []
        topics = []
        for topic in request.topics:
            error = ErrorCode.NONE
            if group.is_subscribed(topic.name):
                error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            indexes = [each.partition_index for each in topic.partitions]
            partitions = [
                OffsetDeleteResponsePartition(partition_index=each, error_code=error)
                for each in indexes
            ]
            topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=partitions))
            if error is ErrorCode.NONE:
                named = dict.fromkeys(TopicPartition(topic.name, each) for each in indexes)
                records += [tombstone(group.group_id, each) for each in named if each in known]
        response = OffsetDeleteResponse(
            error_code=ErrorCode.NONE, throttle_time_ms=0, topics=topics
        )
        return Decision(response, tuple(records))

    def delete_group(self, group_id: str) -> Decision[ErrorCode]:
        group = self._get(group_id)
        if group.state != State.EMPTY:
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
        known = self._offsets.known_partitions(group_id)
        records = [tombstone(group_id, each) for each in known]
        return Decision(ErrorCode.NONE, (*records, *_tombstones(group)))

    def delete_topics(self, topics: Iterable[str]) -> Decision[None]:
        """Positions in topics that are no more."""
        deleted = set(topics)
        return Decision(
            None,
            tuple(
                tombstone(group_id, each)
                for group_id in self._offsets.group_ids()
                for each in self._offsets.known_partitions(group_id)
                if each.topic in deleted
            ),
        )

    def expire(self, now_ms: int) -> Decision[bool]:
        """Some of what has expired; the response says whether there may be more at once."""
        records: list[NewRecord] = []
        records_max = self._settings.expired_offsets_max
        for group in self._all_groups():
            records += self._expire_group(group, records_max - len(records), now_ms)
            if len(records) >= records_max:
                return Decision(True, tuple(records))
        return Decision(False, tuple(records))

    def forget_if_unused(self, group: ClassicGroup) -> None:
        """Drops a group that nobody ever joined; there is no record of it."""
        is_used = group.is_stored or group.pending_joins or len(group.members)
        if not is_used and not any(True for _ in self._offsets.known_partitions(group.group_id)):
            self._sessions.end_all(group)
            self._groups.pop(group.group_id, None)

    def _all_groups(self) -> Iterator[ClassicGroup | ConsumerGroup]:
        yield from self._groups.values()
        yield from self._consumer_groups.values()

    def _get(self, group_id: str) -> ClassicGroup | ConsumerGroup:
        group = self._groups.get(group_id) or self._consumer_groups.get(group_id)
        if group is None:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
        return group

    def _expire_group(
        self, group: ClassicGroup | ConsumerGroup, records_max: int, now_ms: int
    ) -> list[NewRecord]:
        committed = self._offsets.of_group(group.group_id)
        expired = [
            partition
            for partition, each in committed.items()
            if self._is_expired(group, partition, each, now_ms)
        ]
        records = [tombstone(group.group_id, each) for each in expired[:records_max]]
        has_transactions = self._offsets.has_transactions(group.group_id)
        if group.is_unused and len(records) == len(committed) and not has_transactions:
            records += _tombstones(group)
        return records

    def _is_expired(
        self,
        group: ClassicGroup | ConsumerGroup,
        partition: TopicPartition,
        each: CommittedOffset,
        now_ms: int,
    ) -> bool:
        if group.is_subscribed(partition.topic):
            return False
        if self._offsets.is_pending(group.group_id, partition):
            return False
        if each.expire_timestamp_ms != NO_EXPIRY:
            return now_ms >= each.expire_timestamp_ms
        since_ms = _retained_since_ms(group, each)
        return since_ms is not None and now_ms - since_ms >= self._settings.offsets_retention_ms


def _tombstones(group: ClassicGroup | ConsumerGroup) -> Iterable[NewRecord]:
    """What ends a group without members."""
    if isinstance(group, ConsumerGroup):
        return group_tombstones(group.group_id)
    return [stored.tombstone(group.group_id)]


def _retained_since_ms(
    group: ClassicGroup | ConsumerGroup, committed: CommittedOffset
) -> int | None:
    """When the time to keep an offset began, if it has."""
    if isinstance(group, ConsumerGroup):
        return committed.commit_timestamp_ms
    if group.protocol_type is None:
        return committed.commit_timestamp_ms
    if group.state is State.EMPTY:
        if group.state_changed_at_ms is None:
            return committed.commit_timestamp_ms
        return group.state_changed_at_ms
    if group.is_consumer and group.state is State.STABLE:
        return committed.commit_timestamp_ms
    return None
