"""ListOffsets, OffsetForLeaderEpoch, DescribeProducers and ApiVersions against real logs."""

from pathlib import Path

import pytest

from snakka.apis.registry import APIS
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import UnsupportedVersionError
from snakka.protocol.frames import read_response, write_request
from snakka.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from snakka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from snakka.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.replication.replica import Replica
from tests.apis.broker import NOW_MS, TestBroker, flat, run


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    return TestBroker(tmp_path)


def append(replica: Replica, *timestamps_ms: int, producer_id: int = -1) -> None:
    records = [Record(i, at_ms, b"k", b"v") for i, at_ms in enumerate(timestamps_ms)]
    is_idempotent = producer_id >= 0
    batch = build_batch(
        records,
        producer_id=producer_id,
        producer_epoch=0 if is_idempotent else -1,
        base_sequence=0 if is_idempotent else -1,
    )
    replica.append_from_client(bytearray(batch), needs_all=False, now_ms=NOW_MS)
    replica.write()


def list_offset(
    broker: TestBroker,
    timestamp: int,
    version: int = 11,
    isolation_level: int = 0,
    replica_id: int = -1,
) -> ListOffsetsPartitionResponse:
    request = ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation_level,
        topics=[
            ListOffsetsTopic(
                name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=timestamp)]
            )
        ],
    )
    answer = run(broker.ask(request, version, ListOffsetsResponse))
    return answer.topics[0].partitions[0]


@pytest.mark.parametrize(
    ("timestamp", "offset", "found_timestamp"),
    [
        (-1, 4, -1),
        (-2, 0, -1),
        (-3, 2, NOW_MS + 30),  # pitfall 33
        (-4, 0, -1),
        (-5, -1, -1),
        (-6, -1, -1),
        (0, 0, NOW_MS),
        (NOW_MS + 1, 1, NOW_MS + 10),
        (NOW_MS + 10, 1, NOW_MS + 10),
        (NOW_MS + 11, 2, NOW_MS + 30),
        (NOW_MS + 31, -1, -1),
    ],
)
def test_offsets_by_timestamp(
    broker: TestBroker, timestamp: int, offset: int, found_timestamp: int
) -> None:
    replica = broker.create("t")
    append(replica, NOW_MS, NOW_MS + 10)
    append(replica, NOW_MS + 30, NOW_MS + 20)
    found = list_offset(broker, timestamp)
    assert (found.error_code, found.offset, found.timestamp) == (
        ErrorCode.NONE,
        offset,
        found_timestamp,
    )


@pytest.mark.parametrize("timestamp", [-4, -5, -6])
def test_tiered_timestamps_keep_to_the_local_log(broker: TestBroker, timestamp: int) -> None:
    replica = broker.create("t")
    append(replica, NOW_MS)
    append(replica, NOW_MS)
    replica.log.advance_log_start(1)
    found = list_offset(broker, timestamp)
    expected = (1, 5) if timestamp == -4 else (-1, -1)
    assert (found.error_code, found.offset, found.leader_epoch) == (0, *expected)


@pytest.mark.parametrize(
    ("timestamp", "version"), [(-3, 6), (-4, 7), (-5, 8), (-6, 10), (-7, 11), (-(1 << 63), 1)]
)
def test_special_timestamps_of_newer_versions(
    broker: TestBroker, timestamp: int, version: int
) -> None:
    broker.create("t")
    refused = list_offset(broker, timestamp, version)
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_offsets_end_at_what_is_committed(broker: TestBroker) -> None:
    replica = broker.create("t", isr=(1, 2))
    append(replica, NOW_MS, NOW_MS + 1)
    assert list_offset(broker, -1).offset == 0
    assert list_offset(broker, NOW_MS).offset == -1
    assert list_offset(broker, -1, replica_id=2).offset == 2  # a follower sees all there is
    assert list_offset(broker, NOW_MS, replica_id=2).offset == 0
    replica.on_follower_fetch(2, 2)
    assert list_offset(broker, -1).offset == 2
    assert list_offset(broker, NOW_MS).offset == 0


def test_a_partition_asked_for_twice_is_refused(broker: TestBroker) -> None:
    broker.create("t")
    twice = [ListOffsetsPartition(partition_index=0, timestamp=each) for each in (-1, -2)]
    once = [ListOffsetsPartition(partition_index=1, timestamp=-1)]
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=0,
        topics=[ListOffsetsTopic(name="t", partitions=twice + once)],
    )
    answer = run(broker.ask(request, 11, ListOffsetsResponse))
    assert [each.error_code for each in answer.topics[0].partitions] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


def test_old_versions_have_no_leader_epoch(broker: TestBroker) -> None:
    append(broker.create("t"), NOW_MS)
    assert list_offset(broker, -1, version=1).offset == 1
    assert list_offset(broker, -1, version=4).leader_epoch == 5


@pytest.mark.parametrize(
    ("asked", "epoch", "end"), [(5, 5, 3), (3, 3, 2), (4, 3, 2), (2, 2, 0), (6, -1, -1)]
)
def test_where_epochs_end(broker: TestBroker, asked: int, epoch: int, end: int) -> None:
    replica = broker.create("t", leader_epoch=3)
    append(replica, NOW_MS, NOW_MS)
    append(broker.create("t", leader_epoch=5), NOW_MS)
    request = OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic="t", partitions=[OffsetForLeaderPartition(partition=0, leader_epoch=asked)]
            )
        ]
    )
    answer = run(broker.ask(request, 4, OffsetForLeaderEpochResponse)).topics[0].partitions[0]
    assert (answer.error_code, answer.leader_epoch, answer.end_offset) == (0, epoch, end)


def test_active_producers(broker: TestBroker) -> None:
    append(broker.create("t"), NOW_MS, NOW_MS + 5, producer_id=9)
    request = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0, 1])])
    known, unknown = run(broker.ask(request, 0, DescribeProducersResponse)).topics[0].partitions
    (producer,) = known.active_producers
    assert (producer.producer_id, producer.last_sequence) == (9, 1)
    assert (producer.last_timestamp, producer.current_txn_start_offset) == (NOW_MS + 5, -1)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_api_versions_tells_what_is_registered(broker: TestBroker) -> None:
    request = ApiVersionsRequest(client_software_name="a-b.c", client_software_version="1.0")
    answer = run(broker.ask(request, 4, ApiVersionsResponse))
    told = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert told.keys() == APIS.keys()
    assert told[ApiKey.PRODUCE] == (0, 13)
    assert told[ApiKey.FETCH] == (4, 18)


@pytest.mark.parametrize("name", ["", "-a", "a.", "a b", "ä b"])
def test_client_software_has_a_proper_name(broker: TestBroker, name: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    assert run(broker.ask(request, 3, ApiVersionsResponse)).error_code == ErrorCode.INVALID_REQUEST


def test_a_newer_api_versions_is_answered_in_version_0(broker: TestBroker) -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    frame = bytearray(flat(write_request(request, 4, correlation_id=7, client_id=None)))
    frame[6:8] = (9).to_bytes(2)
    answer = run(broker.serve_frame(memoryview(frame)[4:]))
    assert answer is not None
    correlation_id, response = read_response(ApiVersionsResponse, 0, flat(answer)[4:])
    assert correlation_id == 7
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    (served,) = response.api_keys
    assert (served.api_key, served.min_version, served.max_version) == (18, 0, 4)


def test_what_is_not_served_is_refused(broker: TestBroker) -> None:
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=1)  # for controllers only
    with pytest.raises(UnsupportedVersionError, match="ALLOCATE_PRODUCER_IDS is not served here"):
        run(broker.serve(request, 0))
