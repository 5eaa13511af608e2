"""Incremental fetches through the request handling: what is read for them, and what is told."""

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from snakka.replication.replica import Replica
from snakka.storage.log import Log
from tests.apis.broker import NOW_MS, TOPIC_ID, TestBroker, run
from tests.apis.test_produce_fetch import batch, values

VERSION = 12


class CountingLog:
    """A log that notes which partitions are read."""

    def __init__(self, log: Log, index: int, reads: list[int]) -> None:
        self._log = log
        self._index = index
        self._reads = reads

    def read(self, *arguments: Any, **named: Any) -> Any:
        self._reads.append(self._index)
        return self._log.read(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


class Client:
    """One that fetches incrementally, as KIP-227 describes it."""

    def __init__(self, broker: TestBroker, count: int) -> None:
        self._broker = broker
        self.offsets = dict.fromkeys(range(count), 0)
        self.session_id = 0
        self.epoch = 0
        self._named = set(self.offsets)

    async def fetch(
        self,
        *,
        max_wait_ms: int = 0,
        max_bytes: int = 1 << 20,
        partition_max_bytes: int = 1 << 20,
        forget: Sequence[int] = (),
    ) -> dict[int, PartitionData]:
        named, self._named = self._named, set()
        response = await self._broker.ask(
            FetchRequest(
                max_wait_ms=max_wait_ms,
                min_bytes=1,
                max_bytes=max_bytes,
                session_id=self.session_id,
                session_epoch=self.epoch,
                topics=topics({i: self.offsets[i] for i in sorted(named)}, partition_max_bytes),
                forgotten_topics_data=[ForgottenTopic(topic="t", partitions=list(forget))],
            ),
            VERSION,
            FetchResponse,
        )
        assert response.error_code == ErrorCode.NONE
        self.session_id, self.epoch = response.session_id, self.epoch + 1
        found = {each.partition_index: each for t in response.responses for each in t.partitions}
        for index, each in found.items():
            if read := len(values(each)):
                self.offsets[index] += read
                self._named.add(index)
        return found


def topics(offsets: dict[int, int], partition_max_bytes: int = 1 << 20) -> list[FetchTopic]:
    return [
        FetchTopic(
            topic="t",
            topic_id=TOPIC_ID,
            partitions=[
                FetchPartition(
                    partition=index, fetch_offset=offset, partition_max_bytes=partition_max_bytes
                )
                for index, offset in offsets.items()
            ],
        )
    ]


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    return TestBroker(tmp_path)


def create(broker: TestBroker, count: int) -> tuple[list[Replica], list[int]]:
    """Partitions, and the list that their reads are noted in."""
    reads: list[int] = []
    replicas = [broker.create("t", index=index) for index in range(count)]
    for index, replica in enumerate(replicas):
        replica.log = cast(Log, CountingLog(replica.log, index, reads))
    return replicas, reads


def append(replica: Replica, value: bytes = b"a") -> None:
    replica.append_from_client(bytearray(batch(value)), needs_all=False, now_ms=NOW_MS)
    replica.write()


def test_an_incremental_fetch_reads_what_changed(broker: TestBroker) -> None:
    replicas, reads = create(broker, 50)

    async def scenario() -> None:
        client = Client(broker, 50)
        assert len(await client.fetch()) == 50
        assert sorted(reads) == list(range(50))
        reads.clear()
        assert await client.fetch() == {}
        assert reads == []
        append(replicas[7])
        found = await client.fetch()
        assert values(found[7]) == [b"a"]
        assert reads == [7]
        assert await client.fetch() == {}  # the client named its new offset
        assert reads == [7, 7]
        assert await client.fetch() == {}
        assert reads == [7, 7]

    run(scenario())


def test_a_waiting_fetch_reads_anew_what_woke_it_and_no_more(broker: TestBroker) -> None:
    replicas, reads = create(broker, 20)

    async def scenario() -> None:
        client = Client(broker, 20)
        for epoch in range(2):  # a full fetch waits like an incremental one
            reads.clear()
            fetching = asyncio.create_task(client.fetch(max_wait_ms=20_000))
            await asyncio.sleep(0.01)
            assert not fetching.done()
            assert len(reads) == (0 if epoch else 20)
            append(replicas[3])
            found = await fetching
            assert values(found[3]) == [b"a"]
            assert reads[-1] == 3
            assert len(reads) == (1 if epoch else 21)
            await client.fetch()

    run(scenario())


def test_everybody_is_served_in_turn_however_small_the_limit(broker: TestBroker) -> None:
    replicas, reads = create(broker, 6)
    size = len(batch(b"a"))

    async def scenario() -> None:
        client = Client(broker, 6)
        await client.fetch(partition_max_bytes=size)
        for replica in replicas:
            for _ in range(10):
                append(replica)
        served: list[int] = []
        for _ in range(6):
            reads.clear()
            found = await client.fetch(max_bytes=2 * size, partition_max_bytes=size)
            served += found
            assert len(reads) <= 2  # what there is no room for is not looked at
        assert served == [0, 1, 2, 3, 4, 5] * 2

    run(scenario())


def test_records_that_the_client_does_not_acknowledge_come_again(broker: TestBroker) -> None:
    (replica,), _ = create(broker, 1)

    async def scenario() -> None:
        client = Client(broker, 1)
        await client.fetch()
        append(replica)
        assert values((await client.fetch())[0]) == [b"a"]
        client.offsets[0] = 0
        assert values((await client.fetch())[0]) == [b"a"]

    run(scenario())


def test_a_fetch_that_is_cut_off_loses_nothing(broker: TestBroker) -> None:
    replicas, _ = create(broker, 3)

    async def scenario() -> None:
        client = Client(broker, 3)
        await client.fetch()
        append(replicas[1])
        request = FetchRequest(
            max_wait_ms=20_000,
            min_bytes=1_000,
            session_id=client.session_id,
            session_epoch=client.epoch,
            topics=[],
            forgotten_topics_data=[],
        )
        cut_off = asyncio.create_task(broker.ask(request, VERSION, FetchResponse))
        await asyncio.sleep(0.01)
        cut_off.cancel()
        await asyncio.wait([cut_off])
        client.epoch += 1
        assert values((await client.fetch())[1]) == [b"a"]

    run(scenario())


def test_a_forgotten_partition_is_told_of_no_more(broker: TestBroker) -> None:
    replicas, reads = create(broker, 3)

    async def scenario() -> None:
        client = Client(broker, 3)
        await client.fetch()
        await client.fetch(forget=[1])
        reads.clear()
        for replica in replicas:
            append(replica)
        assert sorted(await client.fetch()) == [0, 2]
        assert sorted(reads) == [0, 2]

    run(scenario())


def test_where_the_log_begins_is_told_when_it_moves(broker: TestBroker) -> None:
    (replica,), _ = create(broker, 1)
    append(replica)

    async def scenario() -> None:
        client = Client(broker, 1)
        await client.fetch()
        assert await client.fetch() == {}
        replica.delete_records(1)
        (told,) = (await client.fetch()).values()
        assert (told.log_start_offset, told.high_watermark) == (1, 1)
        assert await client.fetch() == {}

    run(scenario())


def test_an_error_is_told_until_it_is_over(broker: TestBroker) -> None:
    async def scenario() -> None:
        client = Client(broker, 1)
        for _ in range(3):
            (told,) = (await client.fetch()).values()
            assert told.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        (replica,), _ = create(broker, 1)
        (told,) = (await client.fetch()).values()
        assert (told.error_code, told.high_watermark) == (ErrorCode.NONE, 0)
        assert await client.fetch() == {}
        broker.replicas.remove("t", 0)
        (told,) = (await client.fetch()).values()
        assert told.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert replica.waiters is not None

    run(scenario())


@pytest.mark.parametrize(
    ("session_id", "epoch", "version", "code"),
    [
        (99, 1, VERSION, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (None, 5, VERSION, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (None, 1, 13, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_a_session_that_cannot_be_continued(
    broker: TestBroker, session_id: int | None, epoch: int, version: int, code: ErrorCode
) -> None:
    create(broker, 1)

    async def scenario() -> None:
        client = Client(broker, 1)
        await client.fetch()
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            session_id=client.session_id if session_id is None else session_id,
            session_epoch=epoch,
            topics=[],
            forgotten_topics_data=[],
        )
        refused = await broker.ask(request, version, FetchResponse)
        assert (refused.error_code, refused.session_id) == (code, 0)
        assert refused.responses == []

    run(scenario())


def test_a_client_that_goes_on_without_the_answer(broker: TestBroker) -> None:
    create(broker, 1)

    async def scenario() -> None:
        client = Client(broker, 1)
        await client.fetch()
        waiting = asyncio.create_task(
            broker.ask(
                FetchRequest(
                    max_wait_ms=40,
                    min_bytes=1,
                    session_id=client.session_id,
                    session_epoch=1,
                    topics=[],
                    forgotten_topics_data=[],
                ),
                VERSION,
                FetchResponse,
            )
        )
        await asyncio.sleep(0.01)
        client.epoch = 2
        await client.fetch()
        refused = await waiting
        assert refused.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert refused.session_id == client.session_id

    run(scenario())


def test_sessions_by_topic_id(broker: TestBroker) -> None:
    (replica,), reads = create(broker, 1)

    async def scenario() -> None:
        full = FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=0, topics=topics({0: 0}))
        opened = await broker.ask(full, 17, FetchResponse)
        assert opened.session_id > 0
        append(replica)
        reads.clear()
        further = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            session_id=opened.session_id,
            session_epoch=1,
            topics=[],
            forgotten_topics_data=[],
        )
        found = await broker.ask(further, 17, FetchResponse)
        assert found.responses[0].topic_id == TOPIC_ID
        assert values(found.responses[0].partitions[0]) == [b"a"]

    run(scenario())


def test_any_schedule_delivers_every_record_once_and_starves_nobody(broker: TestBroker) -> None:
    """Appends and fetches in random order and sizes: what a client gets is the log."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    count = 12
    replicas, _ = create(broker, count)
    produced: dict[int, list[bytes]] = {index: [] for index in range(count)}
    got: dict[int, list[bytes | None]] = {index: [] for index in range(count)}

    async def take(client: Client, max_bytes: int) -> None:
        for index, each in (await client.fetch(max_bytes=max_bytes)).items():
            got[index] += values(each)

    async def scenario() -> None:
        client = Client(broker, count)
        for number in range(300):
            index = rng.randrange(count)
            if rng.random() < 0.6:
                append(replicas[index], b"%d" % number)
                produced[index].append(b"%d" % number)
            else:
                await take(client, rng.choice([1, 100, 300, 1 << 20]))
        for _ in range(400):
            await take(client, 1)
        assert got == produced

    run(scenario())
