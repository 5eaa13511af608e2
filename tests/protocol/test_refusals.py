"""A refusal names what the request named, with the error code wherever there is room for one."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snakka.protocol.api_keys import ApiKey, request_type, response_type
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import read_response, write_response
from snakka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from snakka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from snakka.protocol.messages.offset_fetch import OffsetFetchRequestTopics as OffsetTopics
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from snakka.protocol.refusals import refusal
from snakka.protocol.types import Buffer
from tests.protocol.messages import Values

REFUSED = ErrorCode.NOT_COORDINATOR


def test_produce_is_refused_by_partition() -> None:
    partitions = [PartitionProduceData(index=index, records=None) for index in (0, 3)]
    topic = TopicProduceData(name="orders", partition_data=partitions)
    request = ProduceRequest(acks=1, timeout_ms=1, topic_data=[topic])
    (answered,) = refusal(request, 9, REFUSED).responses  # type: ignore[attr-defined]
    assert answered.name == "orders"
    assert [(each.index, each.error_code) for each in answered.partition_responses] == [
        (0, REFUSED),
        (3, REFUSED),
    ]


def test_fetch_is_refused_by_partition_whatever_the_partition_is_called() -> None:
    partition = FetchPartition(partition=7, fetch_offset=0, partition_max_bytes=1)
    topic = FetchTopic(topic="orders", partitions=[partition])
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic])
    response = refusal(request, 11, REFUSED)
    (answered,) = response.responses  # type: ignore[attr-defined]
    assert answered.topic == "orders"
    assert answered.partitions[0].partition_index == 7
    assert answered.partitions[0].error_code == REFUSED


def test_numbers_in_a_list_are_named_too() -> None:
    group = OffsetFetchRequestGroup(
        group_id="g", topics=[OffsetTopics(name="orders", partition_indexes=[2, 5])]
    )
    (answered,) = refusal(OffsetFetchRequest(groups=[group]), 8, REFUSED).groups  # type: ignore[attr-defined]
    assert (answered.group_id, answered.error_code) == ("g", REFUSED)
    assert [each.partition_index for each in answered.topics[0].partitions] == [2, 5]


def test_a_request_about_one_thing_has_one_error() -> None:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert refusal(request, 4, REFUSED) == HeartbeatResponse(throttle_time_ms=0, error_code=REFUSED)


@pytest.mark.parametrize("key", ApiKey, ids=lambda key: str(key.name))
@settings(max_examples=5, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_every_api_can_be_refused_in_every_version(key: ApiKey, data: st.DataObject) -> None:
    first, last = request_type(key).VERSIONS
    version = data.draw(st.integers(first, last))
    request = data.draw(Values().message(request_type(key), version))
    response = refusal(request, version, REFUSED)
    chunks = write_response(response, version, correlation_id=5)
    frame = b"".join(chunk for chunk in chunks if isinstance(chunk, Buffer))
    correlation_id, _ = read_response(response_type(key), version, frame[4:])
    assert correlation_id == 5
