"""Produce to partitions that are still being made here: none is refused, and the order is kept."""

import asyncio
from pathlib import Path

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from tests.apis.broker import NOW_MS, TOPIC_ID, TestBroker, run

VERSION = 13


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    broker = TestBroker(tmp_path)
    broker.replicas.arrivals.expect(TOPIC_ID, 0)
    return broker


def request(sequence: int, index: int = 0, timeout_ms: int = 30_000) -> ProduceRequest:
    batch = build_batch(
        [Record(0, NOW_MS, None, b"%d" % sequence)],
        producer_id=7,
        producer_epoch=0,
        base_sequence=sequence,
    )
    data = PartitionProduceData(index=index, records=batch)
    topic = TopicProduceData(topic_id=TOPIC_ID, partition_data=[data])
    return ProduceRequest(acks=-1, timeout_ms=timeout_ms, topic_data=[topic])


async def produce(broker: TestBroker, asked: ProduceRequest) -> PartitionProduceResponse:
    answer = await broker.ask(asked, VERSION, ProduceResponse)
    return answer.responses[0].partition_responses[0]


def test_what_came_first_is_written_first(broker: TestBroker) -> None:
    async def scenario() -> None:
        tasks = [asyncio.create_task(produce(broker, request(each))) for each in range(3)]
        await asyncio.sleep(0)
        assert not any(each.done() for each in tasks)
        broker.create("t")
        broker.replicas.arrivals.arrived(TOPIC_ID, 0)
        # One that comes before any of them has gone on does not overtake them.
        late = await produce(broker, request(3))
        answers = [*await asyncio.gather(*tasks), late]
        assert [each.error_code for each in answers] == [ErrorCode.NONE] * 4
        assert [each.base_offset for each in answers] == [0, 1, 2, 3]

    run(scenario())


def test_the_buffer_that_a_request_came_in_may_be_used_again(broker: TestBroker) -> None:
    async def scenario() -> None:
        frame = bytearray(broker.frame(request(0), VERSION))
        task = asyncio.create_task(broker.serve_frame(memoryview(frame)))
        await asyncio.sleep(0)
        frame[:] = bytes(len(frame))
        replica = broker.create("t")
        broker.replicas.arrivals.arrived(TOPIC_ID, 0)
        await task
        assert replica.log.high_watermark == 1

    run(scenario())


def test_a_partition_that_does_not_come_in_time_is_not_written_later(broker: TestBroker) -> None:
    async def scenario() -> None:
        answer = await produce(broker, request(0, timeout_ms=1))
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID
        replica = broker.create("t")
        broker.replicas.arrivals.arrived(TOPIC_ID, 0)
        assert replica.log.high_watermark == 0

    run(scenario())


def test_one_that_will_not_come_and_one_that_nobody_expects_are_refused(
    broker: TestBroker,
) -> None:
    async def scenario() -> None:
        task = asyncio.create_task(produce(broker, request(0)))
        await asyncio.sleep(0)
        broker.replicas.arrivals.arrived(TOPIC_ID, 0)
        assert (await task).error_code == ErrorCode.UNKNOWN_TOPIC_ID
        answer = await produce(broker, request(0, index=1))
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID

    run(scenario())
