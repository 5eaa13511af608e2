"""A broker whose groups, transactions and markers are real, and a producer that speaks to it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

from snakka.apis.cluster import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import HostSettings
from snakka.coordinators.timers import LoopTimers
from snakka.coordinators.transactions.initializing import Producer
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.coordinators.transactions.transactions import Transactions
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import Provenance
from snakka.node.coordinator_log import ReplicaLog
from snakka.node.markers import LocalMarkers, MarkerRouting
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import PartitionRecord, RemoveTopicRecord, TopicRecord
from snakka.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from snakka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from snakka.protocol.messages.describe_transactions import DescribeTransactionsRequest
from snakka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from snakka.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.protocol.types import Uuid
from snakka.replication.partition import Assignment
from snakka.replication.replica import Replica
from tests.apis.broker import NODE_ID, NOW_MS, TestBroker

FOLLOWER = 2
TOPICS = {OFFSETS_TOPIC: 1, TRANSACTIONS_TOPIC: 1, "t": 2}


class Ids:
    """Producer ids from 100 on."""

    def __init__(self) -> None:
        self._last = 99

    async def next(self) -> int:
        self._last += 1
        return self._last


class TransactingBroker(TestBroker):
    """Its partitions have a second replica, which fetches when the test says so."""

    __test__ = False

    def __init__(self, path: Path, *, transaction_version: int, is_replicated: bool) -> None:
        super().__init__(path)
        timers = LoopTimers(NOW_MS)
        self.groups = Groups(GroupSettings(), HostSettings(), lambda: 1, timers, Random(1))
        markers = LocalMarkers(self.replicas, self.groups, timers.now_ms)
        self.transactions = Transactions(
            TransactionSettings(),
            HostSettings(),
            lambda: 1,
            lambda: transaction_version,
            timers,
            Ids(),
            MarkerRouting(NODE_ID, lambda: 0, lambda: self.image, markers),
        )
        self.use(
            groups=self.groups,
            transactions=self.transactions,
            transaction_coordinator=self.transactions,
            markers=markers,
        )
        for topic, count in TOPICS.items():
            is_data = topic == "t"
            isr = (NODE_ID, FOLLOWER) if is_data and is_replicated else (NODE_ID,)
            for index in range(count):
                self.create(topic, topic_id=topic_id(topic), index=index, isr=isr)
        self._publish()
        offsets = ReplicaLog(self.replicas.get(OFFSETS_TOPIC, 0), timers)
        states = ReplicaLog(self.replicas.get(TRANSACTIONS_TOPIC, 0), timers)
        self.groups.on_partition_led(0, offsets, 5)
        self.transactions.on_partition_led(0, states, 5)

    def replica(self, index: int = 0) -> Replica:
        return self.replicas.get("t", index)

    def delete_topic(self) -> None:
        delta = MetadataDelta(self.image)
        delta.replay(RemoveTopicRecord(topic_id=topic_id("t")))
        self.image = delta.after(Provenance(20, 1, 0))
        for index in range(2):
            self.replicas.remove("t", index)

    def _publish(self) -> None:
        delta = MetadataDelta(self.image)
        for topic, count in TOPICS.items():
            delta.replay(TopicRecord(name=topic, topic_id=topic_id(topic)))
            for index in range(count):
                delta.replay(
                    PartitionRecord(
                        partition_id=index,
                        topic_id=topic_id(topic),
                        replicas=[NODE_ID],
                        isr=[NODE_ID],
                        removing_replicas=[],
                        adding_replicas=[],
                        leader=NODE_ID,
                    )
                )
        self.image = delta.after(Provenance(10, 1, 0))

    async def lead_offsets_again(self) -> None:
        """As after a restart: groups are loaded from what is in the log."""
        replica = self.replicas.get(OFFSETS_TOPIC, 0)
        before = replica.partition.assignment
        epoch = before.leader_epoch + 1
        replica.assign(Assignment(NODE_ID, epoch, epoch, before.replicas, before.isr))
        self.groups.on_partition_led(0, ReplicaLog(replica, LoopTimers(NOW_MS)), epoch)
        await self.groups.loaded()

    async def state(self) -> str:
        request = DescribeTransactionsRequest(transactional_ids=["tx"])
        (found,) = (await self.transactions.describe_transactions(request)).transaction_states
        return found.transaction_state

    async def offset(self) -> int:
        """What the group has committed; -2 while a transaction is about to change it."""
        topic = OffsetFetchRequestTopics(name="t", partition_indexes=[0])
        group = OffsetFetchRequestGroup(group_id="g", topics=[topic])
        request = OffsetFetchRequest(group_id="", topics=[], groups=[group], require_stable=True)
        answer = await self.groups.fetch_offsets(request, ClientInfo("c", "/h", 9))
        (found,) = answer.groups
        (partition,) = found.topics[0].partitions
        is_unstable = partition.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
        return -2 if is_unstable else partition.committed_offset


class TransactingClient:
    """A producer in either version of the protocol; answers are names of errors."""

    def __init__(self, broker: TransactingBroker, *, is_v2: bool) -> None:
        self.broker = broker
        self.is_v2 = is_v2
        self.producer = Producer(-1, -1)
        self.sequences = [0, 0]

    async def init(self) -> str:
        request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000)
        answer = await self.broker.ask(request, 5, InitProducerIdResponse)
        self._become(Producer(answer.producer_id, answer.producer_epoch))
        return ErrorCode(answer.error_code).name

    async def add(self, *indexes: int, topic: str = "t", version: int = 3) -> list[str]:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx",
            v3_and_below_producer_id=self.producer.producer_id,
            v3_and_below_producer_epoch=self.producer.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=list(indexes))],
        )
        answer = await self.broker.ask(request, version, AddPartitionsToTxnResponse)
        (found,) = answer.results_by_topic_v3_and_below
        return [ErrorCode(each.partition_error_code).name for each in found.results_by_partition]

    async def produce(self, index: int = 0) -> str:
        batch = build_batch(
            [Record(0, NOW_MS, None, b"x")],
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            base_sequence=self.sequences[index],
            is_transactional=True,
        )
        data = PartitionProduceData(index=index, records=batch)
        request = ProduceRequest(
            transactional_id="tx",
            acks=1,
            timeout_ms=1_000,
            topic_data=[TopicProduceData(name="t", partition_data=[data])],
        )
        answer = await self.broker.ask(request, 12 if self.is_v2 else 10, ProduceResponse)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        self.sequences[index] += code is ErrorCode.NONE
        return code.name

    async def add_offsets(self) -> str:
        request = AddOffsetsToTxnRequest(
            transactional_id="tx",
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            group_id="g",
        )
        answer = await self.broker.ask(request, 3, AddOffsetsToTxnResponse)
        return ErrorCode(answer.error_code).name

    async def commit_offset(
        self, offset: int, *, topic: str = "t", generation: int = -1, version: int | None = None
    ) -> str:
        partition = TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        request = TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id="g",
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            generation_id=generation,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[partition])],
        )
        used = version or (5 if self.is_v2 else 3)
        answer = await self.broker.ask(request, used, TxnOffsetCommitResponse)
        return ErrorCode(answer.topics[0].partitions[0].error_code).name

    async def end(self, *, committed: bool = True) -> str:
        request = EndTxnRequest(
            transactional_id="tx",
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            committed=committed,
        )
        answer = await self.broker.ask(request, 5 if self.is_v2 else 3, EndTxnResponse)
        if self.is_v2 and not answer.error_code:
            self._become(Producer(answer.producer_id, answer.producer_epoch))
        for _ in range(20):
            await asyncio.sleep(0)  # markers are on their way
        return ErrorCode(answer.error_code).name

    def _become(self, producer: Producer) -> None:
        if producer != self.producer:
            self.producer, self.sequences = producer, [0, 0]


def topic_id(topic: str) -> Uuid:
    return Uuid(topic[:16].ljust(16, "_").encode())


def transact(
    path: Path,
    body: Callable[[TransactingBroker, TransactingClient], Awaitable[None]],
    *,
    is_v2: bool = True,
    is_replicated: bool = False,
) -> None:
    async def main() -> None:
        broker = TransactingBroker(
            path, transaction_version=2 if is_v2 else 1, is_replicated=is_replicated
        )
        async with broker.groups, broker.transactions:
            await broker.groups.loaded()
            await broker.transactions.loaded()
            await body(broker, TransactingClient(broker, is_v2=is_v2))

    asyncio.run(main())
