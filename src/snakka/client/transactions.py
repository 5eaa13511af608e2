"""A producer's transactions: who it is, what is in the present one, and how it ends.

Where the cluster has transactions v2 (KIP-890) a broker brings partitions in when it is written to,
and every end gives the producer its next epoch. With v1 partitions are announced before they are
written to, and an abort is followed by a new epoch, since numbers of records were lost (KIP-360).

Not here: sending batches (sender.py), the calls of a user (producer.py).
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from snakka.client.batching import Identity
from snakka.client.cluster import COORDINATOR_LANE, Cluster, CoordinatorType
from snakka.client.errors import ClientError, FencedError, check
from snakka.client.offsets import CommittedOffset, GroupMember, by_topic
from snakka.client.records import TopicPartition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from snakka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from snakka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from snakka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

_ADD_PARTITIONS_BY_CLIENTS: Final = 3  # the last version of AddPartitionsToTxn for them
_V1_LAST: Final = {"produce": 11, "end": 4, "offsets": 4}
_NO_ID: Final = Identity(-1, -1)


class TransactionStateError(ClientError):
    """A call that does not fit the state of the transaction, or one that has failed before."""


class _State(Enum):
    NONE = auto()
    UNDER_WAY = auto()
    ENDING = auto()
    MUST_ABORT = auto()
    FENCED = auto()


class Transactions:
    """All transactions of one transactional id, one after another."""

    def __init__(self, cluster: Cluster, transactional_id: str, timeout_ms: int) -> None:
        self._cluster = cluster
        self._id = transactional_id
        self._timeout_ms = timeout_ms
        self._identity = _NO_ID
        self._state = _State.NONE
        self._failure: ClientError | None = None
        self._partitions: set[TopicPartition] = set()
        self._is_used = False
        self.is_v2 = False

    @property
    def produce_version_max(self) -> int | None:
        return None if self.is_v2 else _V1_LAST["produce"]

    async def initialize(self) -> Identity:
        """Fences earlier producers of this id, and ends what they left."""
        request = InitProducerIdRequest(
            transactional_id=self._id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
        )
        answer = await self._cluster.ask_coordinator(
            self._id, CoordinatorType.TRANSACTION, request, InitProducerIdResponse
        )
        node_id = await self._cluster.get_coordinator(self._id, CoordinatorType.TRANSACTION)
        connection = await self._cluster.connect(node_id, COORDINATOR_LANE)
        self.is_v2 = connection.features.get("transaction.version", 0) >= 2
        self._identity = Identity(answer.producer_id, answer.producer_epoch)
        return self._identity

    def begin(self) -> None:
        self._expect(_State.NONE)
        self._state = _State.UNDER_WAY

    def check_writable(self) -> None:
        """Raises where records cannot be part of a transaction now."""
        self._expect(_State.UNDER_WAY)

    def must_announce(self, partition: TopicPartition) -> bool:
        """Whether a partition is to be brought in before it is written to."""
        self._is_used = True
        return not self.is_v2 and partition not in self._partitions

    async def announce(self, partition: TopicPartition) -> None:
        """Brings a partition in."""
        topic = AddPartitionsToTxnTopic(name=partition.topic, partitions=[partition.partition])
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._id,
            v3_and_below_producer_id=self._identity.producer_id,
            v3_and_below_producer_epoch=self._identity.epoch,
            v3_and_below_topics=[topic],
            transactions=[],
        )

        async def attempt() -> None:
            answer = await self._cluster.ask_coordinator(
                self._id,
                CoordinatorType.TRANSACTION,
                request,
                AddPartitionsToTxnResponse,
                version=_ADD_PARTITIONS_BY_CLIENTS,
            )
            for topic in answer.results_by_topic_v3_and_below:
                for result in topic.results_by_partition:
                    check(result.partition_error_code)

        await self._cluster.retrying(attempt)
        self._partitions.add(partition)

    async def send_offsets(
        self, offsets: Mapping[TopicPartition, CommittedOffset], member: GroupMember
    ) -> None:
        """Makes a group's positions part of the transaction (KIP-447)."""
        self._expect(_State.UNDER_WAY)
        self._is_used = True
        try:
            if not self.is_v2:
                await self._add_offsets(member.group_id)
            await self._commit_offsets(offsets, member)
        except ClientError as error:
            self.fail(error)
            raise

    def stop_writing(self, *, is_committed: bool) -> None:
        """The transaction takes no more; what was sent is to be waited for before `end`."""
        self._expect(_State.UNDER_WAY, *(() if is_committed else (_State.MUST_ABORT,)))
        self._state = _State.ENDING

    async def end(self, *, is_committed: bool) -> Identity:
        """Commits or aborts; who the producer is from then on."""
        if is_committed and self._failure is not None:
            self._state = _State.MUST_ABORT
            self._expect()
        if self._is_used:
            try:
                await self._end(is_committed)
            except ClientError as error:
                # Whoever could not be reached may be asked the same again.
                self._state = _State.UNDER_WAY if is_committed else _State.MUST_ABORT
                if not error.is_retriable:
                    self.fail(error)
                raise
        self._state = _State.NONE
        self._failure = None
        self._is_used = False
        self._partitions.clear()
        return self._identity

    def fail(self, error: ClientError) -> None:
        """Something of the transaction failed: it can only be aborted, or not even that."""
        if self._state is _State.UNDER_WAY:
            self._state = _State.MUST_ABORT
        if isinstance(error, FencedError) and error.code is ErrorCode.PRODUCER_FENCED:
            self._state = _State.FENCED
        self._failure = self._failure or error

    def _expect(self, *states: _State) -> None:
        if self._state in states:
            return
        if self._failure is not None:
            raise TransactionStateError(f"the transaction has failed: {self._failure}")
        raise TransactionStateError(
            "no transaction was begun" if self._state is _State.NONE else "one is under way"
        )

    async def _end(self, is_committed: bool) -> None:
        request = EndTxnRequest(
            transactional_id=self._id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            committed=is_committed,
        )
        answer = await self._cluster.ask_coordinator(
            self._id,
            CoordinatorType.TRANSACTION,
            request,
            EndTxnResponse,
            version=None if self.is_v2 else _V1_LAST["end"],
        )
        if self.is_v2:
            self._identity = Identity(answer.producer_id, answer.producer_epoch)
        elif not is_committed:
            await self.initialize()

    async def _add_offsets(self, group_id: str) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=self._id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            group_id=group_id,
        )
        await self._cluster.ask_coordinator(
            self._id, CoordinatorType.TRANSACTION, request, AddOffsetsToTxnResponse
        )

    async def _commit_offsets(
        self, offsets: Mapping[TopicPartition, CommittedOffset], member: GroupMember
    ) -> None:
        request = TxnOffsetCommitRequest(
            transactional_id=self._id,
            group_id=member.group_id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            generation_id=member.epoch,
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=index,
                            committed_offset=each.offset,
                            committed_leader_epoch=each.leader_epoch,
                            committed_metadata=each.metadata,
                        )
                        for index, each in partitions
                    ],
                )
                for topic, partitions in by_topic(offsets)
            ],
        )

        async def attempt() -> None:
            answer = await self._cluster.ask_coordinator(
                member.group_id,
                CoordinatorType.GROUP,
                request,
                TxnOffsetCommitResponse,
                version=None if self.is_v2 else _V1_LAST["offsets"],
            )
            for topic in answer.topics:
                for partition in topic.partitions:
                    check(partition.error_code)

        await self._cluster.retrying(attempt)
