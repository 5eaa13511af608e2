"""A transaction coordinator on one partition, its partitions' leaders, and what both are asked.

Answers are `producer id:epoch` or the name of an error.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from snakka.coordinators.framing import build
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import HostSettings, TransactionEnd
from snakka.coordinators.transactions.initializing import Producer
from snakka.coordinators.transactions.metadata import TransactionMetadata, record_of
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.coordinators.transactions.transactions import Transactions
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_transactions import DescribeTransactionsRequest
from snakka.protocol.messages.end_txn import EndTxnRequest
from snakka.protocol.messages.init_producer_id import InitProducerIdRequest
from snakka.protocol.messages.list_transactions import ListTransactionsRequest
from tests.coordinators.fakes import FakeLog, FakeTimers, settle

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
V1 = 0  # what the client of an EndTxn before version 5 says of itself
V2 = 2


class FakeSender:
    """Leaders of partitions, which take markers unless they are told to answer something else."""

    def __init__(self) -> None:
        self.sent: list[tuple[TransactionEnd, list[TopicPartition]]] = []
        self.answers: dict[TopicPartition, list[ErrorCode]] = {}
        self.gate: asyncio.Event | None = None

    async def send(
        self, end: TransactionEnd, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        self.sent.append((end, sorted(partitions)))
        if self.gate is not None:
            await self.gate.wait()
        return {each: self._answer(each) for each in partitions}

    def _answer(self, partition: TopicPartition) -> ErrorCode:
        answers = self.answers.get(partition)
        return answers.pop(0) if answers else ErrorCode.NONE


class FakeIds:
    """Producer ids in a row."""

    def __init__(self) -> None:
        self.given = 0

    async def next(self) -> int:
        self.given += 1
        return self.given


class Asking:
    """One coordinator, asked in short."""

    def __init__(
        self, settings: TransactionSettings, *, version: int, commits_at_once: bool = True
    ) -> None:
        self.version = version
        self.timers = FakeTimers()
        self.sender = FakeSender()
        self.ids = FakeIds()
        self.log = FakeLog(commits_at_once=commits_at_once)
        self.transactions = Transactions(
            settings,
            HostSettings(),
            lambda: 1,
            lambda: self.version,
            self.timers,
            self.ids,
            self.sender,
        )

    async def start(self) -> None:
        self.transactions.on_partition_led(0, self.log, self.log.leader_epoch)
        await self.transactions.loaded()
        await settle()

    async def fail_over(self) -> None:
        """Another broker leads the partition, and this is it."""
        self.log.leader_epoch += 1
        await self.start()

    async def begin_at(self, epoch: int) -> None:
        """As if the first producer had come back so often."""
        known = TransactionMetadata("tx", 1, epoch, 60_000, updated_at_ms=self.timers.now_ms())
        self.log.append(build((record_of(known, self.version),), None, 0), self.log.leader_epoch)
        self.ids.given = 1
        await self.fail_over()

    async def advance(self, by_ms: int, *, steps: int = 1) -> None:
        for _ in range(steps):
            self.timers.advance(by_ms // steps)
            await settle()

    async def init(
        self, producer: Producer | None = None, *, name: str = "tx", timeout_ms: int = 60_000
    ) -> str:
        expected = producer or Producer(-1, -1)
        request = InitProducerIdRequest(
            transactional_id=name,
            transaction_timeout_ms=timeout_ms,
            producer_id=expected.producer_id,
            producer_epoch=expected.producer_epoch,
        )
        answer = await self.transactions.init_producer_id(request)
        return shown(answer.error_code, answer.producer_id, answer.producer_epoch)

    async def add(self, producer: Producer, *partitions: TopicPartition, name: str = "tx") -> str:
        code = await self.transactions.add_partitions(
            name, producer, frozenset(partitions), self.version
        )
        return code.name

    async def verify(self, producer: Producer, *partitions: TopicPartition) -> list[str]:
        codes = await self.transactions.verify_partitions("tx", producer, frozenset(partitions))
        return [codes[each].name for each in partitions]

    async def end(
        self,
        producer: Producer,
        *,
        committed: bool = True,
        client_version: int = V2,
        name: str = "tx",
    ) -> str:
        request = EndTxnRequest(
            transactional_id=name,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=committed,
        )
        answer = await self.transactions.end_transaction(request, client_version)
        await settle()
        return shown(answer.error_code, answer.producer_id, answer.producer_epoch)

    async def state(self, name: str = "tx") -> str:
        request = DescribeTransactionsRequest(transactional_ids=[name])
        (found,) = (await self.transactions.describe_transactions(request)).transaction_states
        if found.error_code:
            return ErrorCode(found.error_code).name
        where = [f"{each.topic}-{index}" for each in found.topics for index in each.partitions]
        producer = f"{found.producer_id}:{found.producer_epoch}"
        return " ".join((found.transaction_state, producer, *where))

    async def listed(self, **filters: Any) -> list[str]:
        request = ListTransactionsRequest(
            **{"state_filters": [], "producer_id_filters": [], **filters}
        )
        answer = await self.transactions.list_transactions(request)
        if answer.error_code:
            return [ErrorCode(answer.error_code).name]
        return sorted(each.transactional_id for each in answer.transaction_states)

    @property
    def markers(self) -> list[str]:
        """What was sent, each as outcome, producer, coordinator's epoch and partitions."""
        return [
            " ".join(
                (
                    "commit" if end.is_committed else "abort",
                    f"{end.producer_id}:{end.producer_epoch}",
                    f"by {end.coordinator_epoch}",
                    *(f"{each.topic}-{each.partition}" for each in partitions),
                )
            )
            for end, partitions in self.sender.sent
        ]


def shown(code: int, producer_id: int, producer_epoch: int) -> str:
    return ErrorCode(code).name if code else f"{producer_id}:{producer_epoch}"


def ask(
    body: Callable[[Asking], Awaitable[None]],
    *,
    version: int = V2,
    commits_at_once: bool = True,
    **settings: Any,
) -> None:
    """Runs a scenario."""

    async def main() -> None:
        configured = replace(TransactionSettings(), **settings)
        asking = Asking(configured, version=version, commits_at_once=commits_at_once)
        async with asking.transactions:
            await asking.start()
            await body(asking)

    asyncio.run(main())
