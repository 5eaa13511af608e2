"""OffsetCommit and TxnOffsetCommit: members, tools and transactions store positions.

Not here: whether topics exist and may be read (apis), what a transaction may do (KIP-890, apis).
"""

from typing import Final

from snakka.coordinators.decision import Decision, NewRecord, Transaction
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.sessions import Sessions
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.offsets import (
    NO_EXPIRY,
    CommittedOffset,
    TopicPartition,
    commit_record,
)
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.groups.table import ConsumerGroupTable, GroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_GROUP_ID_NOT_FOUND_VERSION: Final = 9
_NOT_WRITTEN: Final = -1


class OffsetCommits:
    """Decides about commits."""

    def __init__(
        self,
        groups: GroupTable,
        consumer_groups: ConsumerGroupTable,
        sessions: Sessions,
        settings: GroupSettings,
    ) -> None:
        self._groups = groups
        self._consumer_groups = consumer_groups
        self._sessions = sessions
        self._settings = settings

    def commit(
        self, request: OffsetCommitRequest, client: ClientInfo, now_ms: int
    ) -> Decision[OffsetCommitResponse]:
        self._check_commit(request, client, now_ms)
        retention_ms = request.retention_time_ms
        expires_at_ms = NO_EXPIRY if retention_ms == -1 else now_ms + retention_ms
        records: list[NewRecord] = []
        topics = []
        for topic in request.topics:
            partitions = [
                OffsetCommitResponsePartition(
                    partition_index=each.partition_index,
                    error_code=self._add(
                        records, request.group_id, topic.name, each, now_ms, expires_at_ms
                    ),
                )
                for each in topic.partitions
            ]
            topics.append(
                OffsetCommitResponseTopic(
                    name=topic.name, topic_id=topic.topic_id, partitions=partitions
                )
            )
        return Decision(OffsetCommitResponse(topics=topics), tuple(records))

    def commit_in_transaction(
        self, request: TxnOffsetCommitRequest, now_ms: int
    ) -> Decision[TxnOffsetCommitResponse]:
        self._check_transaction(request)
        records: list[NewRecord] = []
        topics = []
        for topic in request.topics:
            partitions = [
                TxnOffsetCommitResponsePartition(
                    partition_index=each.partition_index,
                    error_code=self._add(
                        records, request.group_id, topic.name, each, now_ms, NO_EXPIRY
                    ),
                )
                for each in topic.partitions
            ]
            topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=partitions))
        return Decision(
            TxnOffsetCommitResponse(throttle_time_ms=0, topics=topics),
            tuple(records),
            transaction=Transaction(request.producer_id, request.producer_epoch),
        )

    def _add(
        self,
        records: list[NewRecord],
        group_id: str,
        topic: str,
        partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
        now_ms: int,
        expires_at_ms: int,
    ) -> ErrorCode:
        metadata = partition.committed_metadata or ""
        if len(metadata) > self._settings.offset_metadata_max_bytes:
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        committed = CommittedOffset(
            partition.committed_offset,
            partition.committed_leader_epoch,
            metadata,
            now_ms,
            expires_at_ms,
            _NOT_WRITTEN,
        )
        place = TopicPartition(topic, partition.partition_index)
        records.append(commit_record(group_id, place, committed))
        return ErrorCode.NONE

    def _check_commit(self, request: OffsetCommitRequest, client: ClientInfo, now_ms: int) -> None:
        generation = request.generation_id_or_member_epoch
        consumer_group = self._consumer_groups.get(request.group_id)
        if consumer_group is not None:
            consumer_group.check_commit(
                request.member_id, generation, in_transaction=False, api_version=client.api_version
            )
            return
        group = self._groups.get(request.group_id)
        if group is None:
            if generation < 0:
                return
            # Older clients know no other answer to a generation that is gone.
            knows_it = client.api_version >= _GROUP_ID_NOT_FOUND_VERSION
            raise CoordinatorError(
                ErrorCode.GROUP_ID_NOT_FOUND if knows_it else ErrorCode.ILLEGAL_GENERATION
            )
        group.check_commit(
            request.member_id, request.group_instance_id, generation, in_transaction=False
        )
        self._renew(group, request.member_id, now_ms)

    def _renew(self, group: ClassicGroup, member_id: str, now_ms: int) -> None:
        """A commit is a sign of life too."""
        member = group.members.find(member_id)
        if member is not None and group.state in (State.STABLE, State.PREPARING_REBALANCE):
            self._sessions.renew(group, member, now_ms)

    def _check_transaction(self, request: TxnOffsetCommitRequest) -> None:
        consumer_group = self._consumer_groups.get(request.group_id)
        if consumer_group is not None:
            self._check_consumer(consumer_group, request)
            return
        group = self._groups.get(request.group_id)
        if group is not None:
            group.check_commit(
                request.member_id,
                request.group_instance_id,
                request.generation_id,
                in_transaction=True,
            )
        elif request.generation_id >= 0:
            raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)

    def _check_consumer(self, group: ConsumerGroup, request: TxnOffsetCommitRequest) -> None:
        try:
            group.check_commit(
                request.member_id, request.generation_id, in_transaction=True, api_version=0
            )
        except CoordinatorError as error:
            # Producers know no epochs of members.
            is_stale = error.code is ErrorCode.STALE_MEMBER_EPOCH
            raise CoordinatorError(
                ErrorCode.ILLEGAL_GENERATION if is_stale else error.code
            ) from None
