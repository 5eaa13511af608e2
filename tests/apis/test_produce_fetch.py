"""Produce and Fetch against real logs: what is stored, what is refused, who waits for what."""

import asyncio
import time
from pathlib import Path

import pytest

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, Provenance
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import PartitionRecord, TopicRecord
from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.records.batch import TimestampType, batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.record import Record
from snakka.protocol.types import Buffer, Uuid
from snakka.replication.admission import TopicRules
from snakka.replication.partition import Assignment
from snakka.storage.config import LogConfig
from tests.apis.broker import NOW_MS, TOPIC_ID, TestBroker, flat, run
from tests.metadata.making import register

OTHER_ID = Uuid(b"another-topic-id")


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    return TestBroker(tmp_path)


def batch(*values: bytes, key: bytes | None = b"k", timestamp_ms: int = NOW_MS) -> bytes:
    return build_batch([Record(i, timestamp_ms, key, value) for i, value in enumerate(values)])


def produce_request(
    *batches: bytes | None, acks: int = 1, topic: str = "t", timeout_ms: int = 1000
) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic,
                partition_data=[
                    PartitionProduceData(index=index, records=each)
                    for index, each in enumerate(batches)
                ],
            )
        ],
    )


async def produce(
    broker: TestBroker, *batches: bytes | None, acks: int = 1, version: int = 9
) -> list[PartitionProduceResponse]:
    request = produce_request(*batches, acks=acks)
    response = await broker.ask(request, version, ProduceResponse)
    return response.responses[0].partition_responses


def fetch_request(
    *offsets: int,
    max_bytes: int = 1 << 20,
    partition_max_bytes: int = 1 << 20,
    min_bytes: int = 1,
    max_wait_ms: int = 0,
    current_leader_epoch: int = -1,
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[
            FetchTopic(
                topic="t",
                partitions=[
                    FetchPartition(
                        partition=index,
                        fetch_offset=offset,
                        partition_max_bytes=partition_max_bytes,
                        current_leader_epoch=current_leader_epoch,
                    )
                    for index, offset in enumerate(offsets)
                ],
            )
        ],
    )


async def fetch(broker: TestBroker, request: FetchRequest) -> list[PartitionData]:
    response = await broker.ask(request, 12, FetchResponse)
    return response.responses[0].partitions


def values(partition: PartitionData) -> list[bytes | None]:
    assert isinstance(partition.records, Buffer)
    return [
        record.value
        for each in batches(partition.records, ignore_partial_tail=True)
        for record in each.records()
    ]


def test_what_is_produced_is_fetched(broker: TestBroker) -> None:
    broker.create("t")

    async def scenario() -> None:
        (first,) = await produce(broker, batch(b"a", b"b"))
        (second,) = await produce(broker, batch(b"c"), acks=-1)
        assert (first.error_code, first.base_offset) == (ErrorCode.NONE, 0)
        assert (second.error_code, second.base_offset) == (ErrorCode.NONE, 2)
        (found,) = await fetch(broker, fetch_request(0))
        assert values(found) == [b"a", b"b", b"c"]
        assert (found.high_watermark, found.last_stable_offset) == (3, 3)
        (found,) = await fetch(broker, fetch_request(2))
        assert values(found) == [b"c"]

    run(scenario())


def test_topics_go_by_their_ids_in_newer_versions(broker: TestBroker) -> None:
    broker.create("t")

    async def scenario() -> None:
        data = [PartitionProduceData(index=0, records=batch(b"a"))]
        request = ProduceRequest(
            acks=1,
            timeout_ms=0,
            topic_data=[TopicProduceData(topic_id=TOPIC_ID, partition_data=data)],
        )
        answer = (await broker.ask(request, 13, ProduceResponse)).responses[0]
        assert answer.topic_id == TOPIC_ID
        assert answer.partition_responses[0].error_code == ErrorCode.NONE
        wanted = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)]
        fetching = FetchRequest(
            max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic_id=TOPIC_ID, partitions=wanted)]
        )
        found = (await broker.ask(fetching, 17, FetchResponse)).responses[0]
        assert values(found.partitions[0]) == [b"a"]
        other = FetchTopic(topic_id=TOPIC_ID[::-1], partitions=wanted)  # type: ignore[arg-type]
        unknown = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[other])
        refused = (await broker.ask(unknown, 17, FetchResponse)).responses[0].partitions[0]
        assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_ID

    run(scenario())


@pytest.mark.parametrize(
    ("age_ms", "code"),
    [
        (1_000, ErrorCode.NONE),
        (1_001, ErrorCode.INVALID_TIMESTAMP),
        (-500, ErrorCode.NONE),
        (-501, ErrorCode.INVALID_TIMESTAMP),
        (NOW_MS + 1, ErrorCode.NONE),  # no timestamp at all
    ],
)
def test_how_far_from_now_records_may_be(broker: TestBroker, age_ms: int, code: ErrorCode) -> None:
    rules = TopicRules(timestamp_before_max_ms=1_000, timestamp_after_max_ms=500)
    broker.create("t", rules=rules)
    (answer,) = run(produce(broker, batch(b"a", timestamp_ms=NOW_MS - age_ms)))
    assert answer.error_code == code


def led_by_broker_2(broker: TestBroker) -> None:
    """`t` has a replica here and another leader, `u` has no replica here."""
    delta = MetadataDelta(EMPTY)
    delta.replay(register(2, rack="r"))
    for name, topic_id in (("t", TOPIC_ID), ("u", OTHER_ID)):
        delta.replay(TopicRecord(name=name, topic_id=topic_id))
        delta.replay(
            PartitionRecord(
                partition_id=0,
                topic_id=topic_id,
                replicas=[2],
                isr=[2],
                removing_replicas=[],
                adding_replicas=[],
                leader=2,
                leader_epoch=7,
            )
        )
    broker.image = delta.after(Provenance(10, 1, 0))
    broker.create("t", leader=2, leader_epoch=8)


@pytest.mark.parametrize("version", [9, 10, 13])
def test_a_producer_is_told_who_leads(broker: TestBroker, version: int) -> None:
    led_by_broker_2(broker)
    data = [PartitionProduceData(index=0, records=batch(b"a"))]
    request = ProduceRequest(
        acks=1,
        timeout_ms=0,
        topic_data=[TopicProduceData(name="t", topic_id=TOPIC_ID, partition_data=data)],
    )
    answer = run(broker.ask(request, version, ProduceResponse))
    (refused,) = answer.responses[0].partition_responses
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    hint = refused.current_leader
    if version < 10:
        assert (hint.leader_id, answer.node_endpoints) == (-1, [])
    else:
        assert (hint.leader_id, hint.leader_epoch) == (2, 8)  # the replica knows best
        (node,) = answer.node_endpoints
        assert (node.node_id, node.host, node.port, node.rack) == (2, "localhost", 9092, "r")


@pytest.mark.parametrize(
    ("version", "epoch", "code"),
    [
        (15, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (16, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (16, 7, ErrorCode.FENCED_LEADER_EPOCH),
        (16, 9, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_consumer_is_told_who_leads(
    broker: TestBroker, version: int, epoch: int, code: ErrorCode
) -> None:
    led_by_broker_2(broker)
    wanted = FetchPartition(
        partition=0, current_leader_epoch=epoch, fetch_offset=0, partition_max_bytes=1
    )
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic_id=TOPIC_ID, partitions=[wanted])]
    )
    answer = run(broker.ask(request, version, FetchResponse))
    (refused,) = answer.responses[0].partitions
    assert refused.error_code == code
    if version < 16 or code is ErrorCode.UNKNOWN_LEADER_EPOCH:
        assert (refused.current_leader.leader_id, answer.node_endpoints) == (-1, [])
    else:
        assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (2, 8)
        assert [each.node_id for each in answer.node_endpoints] == [2]


def test_where_a_reader_and_the_log_part(broker: TestBroker) -> None:
    replica = broker.create("t", leader_epoch=5)

    async def ask(offset: int, last_fetched_epoch: int) -> PartitionData:
        wanted = FetchPartition(
            partition=0,
            fetch_offset=offset,
            last_fetched_epoch=last_fetched_epoch,
            partition_max_bytes=1000,
        )
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic="t", partitions=[wanted])]
        )
        return (await fetch(broker, request))[0]

    async def scenario() -> None:
        await produce(broker, batch(b"a", b"b"))
        replica.assign(Assignment(1, 8, 1, (1,), (1,)))
        await produce(broker, batch(b"c"))
        assert values(await ask(2, 5)) == [b"c"]
        assert values(await ask(2, 8)) == [b"c"]
        for offset, epoch, end in [(3, 5, 2), (2, 6, 2)]:
            parted = await ask(offset, epoch)
            assert (parted.diverging_epoch.epoch, parted.diverging_epoch.end_offset) == (5, end)
            assert values(parted) == []
        assert (await ask(2, 9)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE

    run(scenario())


def test_no_answer_is_owed_for_acks_0(broker: TestBroker) -> None:
    replica = broker.create("t")
    assert run(broker.serve(produce_request(batch(b"a"), acks=0), 9)) is None
    assert replica.log.log_end_offset == 1


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (batch(b"a")[:-1] + b"?", ErrorCode.CORRUPT_MESSAGE),
        (batch(b"a")[:40], ErrorCode.CORRUPT_MESSAGE),
        (batch(b"a") * 2, ErrorCode.INVALID_RECORD),
        (batch(b"x" * 2_000_000), ErrorCode.MESSAGE_TOO_LARGE),  # pitfall 9
        (batch(b"a", timestamp_ms=NOW_MS + 4_000_000), ErrorCode.INVALID_TIMESTAMP),
        (
            build_batch([Record(0, NOW_MS, None, b"a")], log_append_time=NOW_MS),
            ErrorCode.INVALID_TIMESTAMP,
        ),
    ],
)
def test_a_bad_batch_is_refused_and_the_others_are_not(
    broker: TestBroker, records: bytes | None, code: ErrorCode
) -> None:
    broker.create("t")
    broker.create("t", index=1)

    async def scenario() -> None:
        bad, good = await produce(broker, records, batch(b"good"))
        assert (bad.error_code, bad.base_offset) == (code, -1)
        assert bad.error_message
        assert good.error_code == ErrorCode.NONE
        found = await fetch(broker, fetch_request(0, 0))
        assert [values(each) for each in found] == [[], [b"good"]]

    run(scenario())


@pytest.mark.parametrize("acks", [2, -2])
def test_acks_that_do_not_exist(broker: TestBroker, acks: int) -> None:
    replica = broker.create("t")
    (refused,) = run(produce(broker, batch(b"a"), acks=acks))
    assert refused.error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert replica.log.log_end_offset == 0


def test_a_compacted_topic_takes_no_record_without_a_key(broker: TestBroker) -> None:
    broker.create("t", rules=TopicRules(needs_keys=True))  # pitfall 35
    records = build_batch([Record(0, NOW_MS, b"k", b"a"), Record(1, NOW_MS, None, b"b")])
    (refused,) = run(produce(broker, records))
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in refused.record_errors] == [1]
    (taken,) = run(produce(broker, batch(b"a")))
    assert taken.error_code == ErrorCode.NONE


def test_a_topic_stores_its_own_codec_and_its_own_time(broker: TestBroker) -> None:
    stamped = TimestampType.LOG_APPEND_TIME
    broker.create(
        "t",
        LogConfig(message_timestamp_type=stamped),
        TopicRules(compression=Compression.ZSTD, timestamp_type=stamped),
    )

    async def scenario() -> None:
        (taken,) = await produce(broker, batch(b"a", timestamp_ms=0))
        assert taken.log_append_time_ms == NOW_MS
        (found,) = await fetch(broker, fetch_request(0))
        assert isinstance(found.records, Buffer)
        (stored,) = batches(found.records)
        assert stored.header.compression is Compression.ZSTD
        assert [record.timestamp_ms for record in stored.records()] == [NOW_MS]

    run(scenario())


def test_an_idempotent_retry_is_answered_with_the_first_offset(broker: TestBroker) -> None:
    replica = broker.create("t")
    records = build_batch(
        [Record(0, NOW_MS, None, b"a")], producer_id=7, producer_epoch=0, base_sequence=0
    )

    async def scenario() -> None:
        (first,) = await produce(broker, records)
        (again,) = await produce(broker, records)
        assert (first.base_offset, again.base_offset) == (0, 0)
        assert again.error_code == ErrorCode.NONE
        assert replica.log.log_end_offset == 1

    run(scenario())


def test_too_few_replicas_in_sync_refuse_acks_all_only(broker: TestBroker) -> None:
    rules = TopicRules(min_insync_replicas=2)
    replica = broker.create("t", rules=rules, replicas=(1, 2))  # pitfall 25
    (refused,) = run(produce(broker, batch(b"a"), acks=-1))
    assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert replica.log.log_end_offset == 0
    (taken,) = run(produce(broker, batch(b"a"), acks=1))
    assert taken.error_code == ErrorCode.NONE


def test_no_more_replicas_are_asked_for_than_there_are(broker: TestBroker) -> None:
    broker.create("t", rules=TopicRules(min_insync_replicas=2))
    (taken,) = run(produce(broker, batch(b"a"), acks=-1))
    assert taken.error_code == ErrorCode.NONE


def test_acks_all_waits_for_the_followers_and_readers_do_too(broker: TestBroker) -> None:
    replica = broker.create("t", isr=(1, 2))

    async def scenario() -> None:
        producing = asyncio.create_task(produce(broker, batch(b"a"), acks=-1))
        await asyncio.sleep(0.01)
        assert not producing.done()
        assert values((await fetch(broker, fetch_request(0)))[0]) == []
        replica.on_follower_fetch(2, 1)
        (taken,) = await producing
        assert taken.error_code == ErrorCode.NONE
        assert values((await fetch(broker, fetch_request(0)))[0]) == [b"a"]

    run(scenario())


def test_acks_all_that_takes_too_long(broker: TestBroker) -> None:
    broker.create("t", isr=(1, 2))
    request = produce_request(batch(b"a"), acks=-1, timeout_ms=20)
    answer = run(broker.ask(request, 9, ProduceResponse)).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT


def test_partitions_that_are_not_here_or_led_elsewhere(broker: TestBroker) -> None:
    broker.create("t", leader=2)
    elsewhere, unknown = run(produce(broker, batch(b"a"), batch(b"a")))
    assert elsewhere.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    found = run(fetch(broker, fetch_request(0, 0)))
    assert [each.error_code for each in found] == [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


@pytest.mark.parametrize(
    ("epoch", "code"),
    [
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (5, ErrorCode.NONE),
    ],
)
def test_leader_epochs_are_compared(broker: TestBroker, epoch: int, code: ErrorCode) -> None:
    broker.create("t")
    (found,) = run(fetch(broker, fetch_request(0, current_leader_epoch=epoch)))
    assert found.error_code == code


@pytest.mark.parametrize("offset", [-1, 2])
def test_an_offset_outside_of_the_log(broker: TestBroker, offset: int) -> None:
    broker.create("t")
    run(produce(broker, batch(b"a")))
    (found,) = run(fetch(broker, fetch_request(offset, max_wait_ms=5000)))
    assert found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_limit_counts_over_all_partitions_but_one_batch_always_comes(
    broker: TestBroker,
) -> None:
    for index in range(3):
        broker.create("t", index=index)
    large = batch(b"x" * 1000)

    async def scenario() -> None:  # pitfall 8
        await produce(broker, large, large, large)
        found = await fetch(broker, fetch_request(0, 0, 0, max_bytes=10))
        assert [len(values(each)) for each in found] == [1, 0, 0]
        found = await fetch(broker, fetch_request(0, 0, 0, max_bytes=2 * len(large)))
        assert [len(values(each)) for each in found] == [1, 1, 0]
        found = await fetch(broker, fetch_request(1, 0, 0, max_bytes=10))
        assert [len(values(each)) for each in found] == [0, 1, 0]

    run(scenario())


def test_an_offset_inside_a_batch_gets_the_whole_batch(broker: TestBroker) -> None:
    broker.create("t")

    async def scenario() -> None:  # pitfall 34
        await produce(broker, batch(b"a", b"b", b"c"))
        (found,) = await fetch(broker, fetch_request(1))
        assert values(found) == [b"a", b"b", b"c"]

    run(scenario())


def test_a_fetch_waits_for_records_and_no_longer(broker: TestBroker) -> None:
    broker.create("t")

    async def scenario() -> None:
        started = time.monotonic()
        fetching = asyncio.create_task(fetch(broker, fetch_request(0, max_wait_ms=20_000)))
        await asyncio.sleep(0.02)
        assert not fetching.done()
        await produce(broker, batch(b"a"))
        assert values((await fetching)[0]) == [b"a"]
        assert time.monotonic() - started < 10
        (empty,) = await fetch(broker, fetch_request(1, max_wait_ms=30))
        assert values(empty) == []

    run(scenario())


def test_a_fetch_waits_for_as_much_as_it_asks_for(broker: TestBroker) -> None:
    broker.create("t")
    one = batch(b"x" * 100)

    async def scenario() -> None:
        request = fetch_request(0, min_bytes=3 * len(one), max_wait_ms=20_000)
        fetching = asyncio.create_task(fetch(broker, request))
        for _ in range(3):
            await asyncio.sleep(0.01)
            assert not fetching.done()
            await produce(broker, one)
        assert len(values((await fetching)[0])) == 3

    run(scenario())


def test_large_reads_leave_as_file_ranges(broker: TestBroker) -> None:
    broker.create("t")

    async def scenario() -> None:
        await produce(broker, batch(b"x" * 500_000))
        chunks = await broker.serve(fetch_request(0), 12)
        assert chunks is not None
        assert [isinstance(chunk, Buffer) for chunk in chunks] == [True, False, True]
        assert b"x" * 500_000 in flat(chunks)

    run(scenario())


def test_records_that_are_not_in_memory_are_found_and_left_to_the_connection(
    broker: TestBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("t")
    seen = set()

    def is_in_memory(descriptor: int, position: int, size_bytes: int) -> bool:
        """Every place is cold when it is first asked for; a larger place than headers is always."""
        place = (descriptor, position)
        is_warm = place in seen and size_bytes <= 4096
        seen.add(place)
        return is_warm

    async def scenario() -> None:
        await produce(broker, batch(b"x" * 10_000))
        await produce(broker, batch(b"y" * 10_000))
        monkeypatch.setattr("snakka.storage.disk.is_in_memory", is_in_memory)
        chunks = await broker.serve(fetch_request(1), 12)
        assert chunks is not None
        assert [isinstance(chunk, Buffer) for chunk in chunks] == [True, False, True]
        assert b"y" * 10_000 in flat(chunks)
        assert b"x" * 10_000 not in flat(chunks)
        assert seen

    run(scenario())


def test_acks_all_is_durable_where_every_message_is_flushed(broker: TestBroker) -> None:
    flushed = broker.create("t", LogConfig(flush_messages=1))  # pitfall 23
    (taken,) = run(produce(broker, batch(b"a"), acks=-1))
    assert taken.error_code == ErrorCode.NONE
    assert flushed.log.durable_offset == 1
    (taken,) = run(produce(broker, batch(b"b"), acks=1))
    assert taken.error_code == ErrorCode.NONE
    assert flushed.log.durable_offset == 1
