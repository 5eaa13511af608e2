"""Frames: sizes, and which header goes before which message."""

import pytest

from snakka.protocol.api_keys import ApiKey, find_api, request_type, response_type
from snakka.protocol.codec import Chunk
from snakka.protocol.errors import MalformedError, UnsupportedVersionError
from snakka.protocol.frames import (
    find_frame_size,
    read_request,
    read_request_header,
    read_response,
    request_header_version,
    response_header_version,
    write_request,
    write_response,
)
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from snakka.protocol.messages.sasl_handshake import SaslHandshakeRequest
from snakka.protocol.types import Buffer

REQUEST = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")
LIMIT = 1 << 20


def joined(chunks: list[Chunk]) -> bytes:
    return b"".join(chunk for chunk in chunks if isinstance(chunk, Buffer))


def test_a_size_is_known_once_its_four_bytes_are_there() -> None:
    frame = b"??" + (77).to_bytes(4)
    assert find_frame_size(frame[:5], 2, LIMIT) is None
    assert find_frame_size(frame, 2, LIMIT) == 77


@pytest.mark.parametrize("size", [LIMIT + 1, -1, -(2**31), 2**31 - 1, 0x47455420])
def test_a_size_beyond_the_limit_is_refused(size: int) -> None:
    with pytest.raises(MalformedError, match="is not within 0 to 1048576"):
        find_frame_size(size.to_bytes(4, signed=True), 0, LIMIT)


@pytest.mark.parametrize(("version", "header_version"), [(0, 1), (3, 1), (4, 2)])
def test_a_request_in_each_of_its_headers(version: int, header_version: int) -> None:
    assert request_header_version(HeartbeatRequest, version) == header_version
    frame = joined(write_request(REQUEST, version, correlation_id=9, client_id="é"))
    assert find_frame_size(frame, 0, LIMIT) == len(frame) - 4
    header, request = read_request(frame[4:])
    assert (header.request_api_key, header.request_api_version) == (ApiKey.HEARTBEAT, version)
    assert (header.correlation_id, header.client_id) == (9, "é")
    assert request == REQUEST


def test_a_client_id_may_be_null() -> None:
    frame = joined(write_request(REQUEST, 4, correlation_id=9, client_id=None))
    assert read_request(frame[4:])[0].client_id is None


@pytest.mark.parametrize(("version", "header_version"), [(3, 0), (4, 1)])
def test_a_response_in_each_of_its_headers(version: int, header_version: int) -> None:
    assert response_header_version(HeartbeatResponse, version) == header_version
    response = HeartbeatResponse(error_code=27)
    frame = joined(write_response(response, version, correlation_id=-5))
    assert read_response(HeartbeatResponse, version, frame[4:]) == (-5, response)


@pytest.mark.parametrize("version", range(5))
def test_the_answer_to_api_versions_has_the_first_header_in_all_versions(version: int) -> None:
    assert response_header_version(ApiVersionsResponse, version) == 0


def test_the_header_of_a_version_from_the_future_can_be_read() -> None:
    frame = joined(
        write_request(
            ApiVersionsRequest(client_software_name="x", client_software_version="1"),
            4,
            correlation_id=1,
            client_id="c",
        )
    )
    newer = frame[4:6] + (99).to_bytes(2) + frame[8:]
    header, _ = read_request_header(newer)
    assert (header.request_api_version, header.client_id) == (99, "c")
    with pytest.raises(UnsupportedVersionError, match="ApiVersionsRequest has versions 0 to 4"):
        read_request(newer)


def test_an_api_without_flexible_versions_never_has_the_second_header() -> None:
    assert request_header_version(SaslHandshakeRequest, 1) == 1
    assert request_header_version(SaslHandshakeRequest, 99) == 1


@pytest.mark.parametrize("key", [-1, 4, 7, 94, 32767])
def test_an_unknown_api_is_refused(key: int) -> None:
    with pytest.raises(UnsupportedVersionError, match=f"no API with key {key}"):
        read_request_header(key.to_bytes(2, signed=True) + bytes(8))


@pytest.mark.parametrize("size", range(14))
def test_a_request_cut_in_its_header_is_malformed(size: int) -> None:
    frame = joined(write_request(REQUEST, 4, correlation_id=9, client_id="abc"))[4:]
    with pytest.raises(MalformedError):
        read_request(frame[:size])


def test_bytes_after_a_request_are_refused() -> None:
    frame = joined(write_request(REQUEST, 4, correlation_id=9, client_id="abc"))[4:]
    with pytest.raises(MalformedError, match="1 bytes too many"):
        read_request(frame + b"\0")


class FileRange:
    def __len__(self) -> int:
        return 500


def test_the_size_counts_records_that_are_not_in_memory() -> None:
    records = FileRange()
    partition = PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=1,
        aborted_transactions=None,
        records=records,
    )
    topic = FetchableTopicResponse(topic="t", partitions=[partition])
    chunks = write_response(
        FetchResponse(throttle_time_ms=0, responses=[topic]), 12, correlation_id=1
    )
    assert chunks[1] is records
    in_memory = joined(chunks)
    assert find_frame_size(in_memory, 0, LIMIT) == len(in_memory) - 4 + 500


def test_every_api_has_its_messages() -> None:
    for key in ApiKey:
        assert request_type(key).KEY == key == response_type(key).KEY
        assert request_type(key).VERSIONS == response_type(key).VERSIONS
        assert find_api(key.value) is key
    assert len(ApiKey) == 89
