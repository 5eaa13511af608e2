"""The committed offsets of all groups, and those that wait for their transaction to end.

All of it is hard: only replay changes it. Where a transaction commits, the later record counts,
whichever of the two it is: compaction keeps only that one.

Not here: who may commit (committing.py), when offsets expire (expiring.py).
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from snakka.coordinators.decision import NewRecord
from snakka.protocol.internal.offsets import OffsetCommitKey, OffsetCommitValue

NO_EXPIRY: Final = -1
_VALUE_VERSION: Final = 3
_VALUE_VERSION_WITH_EXPIRY: Final = 1  # the one version that has the field
_NO_PRODUCER_ID: Final = -1


class TopicPartition(NamedTuple):
    """A partition, by its topic's name."""

    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """A position, and where in the log it was committed."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int
    record_offset: int


class Offsets:
    """Positions by group and partition."""

    def __init__(self) -> None:
        self._committed: dict[str, dict[TopicPartition, CommittedOffset]] = {}
        self._pending: dict[int, dict[str, dict[TopicPartition, CommittedOffset]]] = {}
        self._producers: dict[str, set[int]] = {}  # with open transactions, by group

    def of_group(self, group_id: str) -> Mapping[TopicPartition, CommittedOffset]:
        return self._committed.get(group_id, {})

    def group_ids(self) -> AbstractSet[str]:
        return self._committed.keys() | self._producers.keys()

    def is_pending(self, group_id: str, partition: TopicPartition) -> bool:
        """Whether an open transaction is about to change the position."""
        return any(
            partition in self._pending[each].get(group_id, {})
            for each in self._producers.get(group_id, ())
        )

    def has_transactions(self, group_id: str) -> bool:
        return group_id in self._producers

    def known_partitions(self, group_id: str) -> Iterator[TopicPartition]:
        """All partitions with a committed position or a pending one."""
        known = dict.fromkeys(self.of_group(group_id))
        for each in self._producers.get(group_id, ()):
            known.update(dict.fromkeys(self._pending[each].get(group_id, {})))
        return iter(known)

    def replay(
        self,
        key: OffsetCommitKey,
        value: OffsetCommitValue | None,
        record_offset: int,
        producer_id: int,
    ) -> None:
        partition = TopicPartition(key.topic, key.partition)
        if value is None:
            self._remove(key.group, partition)
            return
        committed = CommittedOffset(
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            record_offset,
        )
        if producer_id == _NO_PRODUCER_ID:
            self._committed.setdefault(key.group, {})[partition] = committed
            return
        pending = self._pending.setdefault(producer_id, {})
        pending.setdefault(key.group, {})[partition] = committed
        self._producers.setdefault(key.group, set()).add(producer_id)

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None:
        for group_id, pending in self._pending.pop(producer_id, {}).items():
            self._producers[group_id].discard(producer_id)
            if not self._producers[group_id]:
                del self._producers[group_id]
            if is_committed:
                self._commit(group_id, pending)

    def _commit(self, group_id: str, pending: dict[TopicPartition, CommittedOffset]) -> None:
        committed = self._committed.setdefault(group_id, {})
        for partition, each in pending.items():
            existing = committed.get(partition)
            if existing is None or each.record_offset > existing.record_offset:
                committed[partition] = each
        if not committed:
            del self._committed[group_id]

    def _remove(self, group_id: str, partition: TopicPartition) -> None:
        committed = self._committed.get(group_id, {})
        committed.pop(partition, None)
        if not committed:
            self._committed.pop(group_id, None)
        for each in self._producers.get(group_id, ()):
            self._pending[each].get(group_id, {}).pop(partition, None)


def commit_record(
    group_id: str, partition: TopicPartition, committed: CommittedOffset
) -> NewRecord:
    """What a commit writes."""
    expires = committed.expire_timestamp_ms != NO_EXPIRY
    return NewRecord(
        OffsetCommitKey(group=group_id, topic=partition.topic, partition=partition.partition),
        OffsetCommitValue(
            offset=committed.offset,
            leader_epoch=committed.leader_epoch,
            metadata=committed.metadata,
            commit_timestamp=committed.commit_timestamp_ms,
            expire_timestamp=committed.expire_timestamp_ms,
        ),
        _VALUE_VERSION_WITH_EXPIRY if expires else _VALUE_VERSION,
    )


def tombstone(group_id: str, partition: TopicPartition) -> NewRecord:
    """What ends a position."""
    return NewRecord(
        OffsetCommitKey(group=group_id, topic=partition.topic, partition=partition.partition)
    )
