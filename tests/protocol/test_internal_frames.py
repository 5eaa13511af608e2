"""Frames of internal records that no broker wrote."""

import pytest

from snakka.protocol.errors import MalformedError, UnsupportedVersionError
from snakka.protocol.internal.consumer_protocol import ConsumerProtocolAssignment
from snakka.protocol.internal.frames import (
    GROUP_RECORDS,
    METADATA_RECORDS,
    read_coordinator_record,
    read_typed,
    read_versioned,
    write_key,
    write_typed,
    write_versioned,
)
from snakka.protocol.internal.metadata import FenceBrokerRecord
from snakka.protocol.internal.offsets import OffsetCommitKey

FENCED = FenceBrokerRecord(id=1, epoch=2)


def test_a_metadata_record_is_led_by_frame_version_type_and_version() -> None:
    framed = write_typed(FENCED, 0)
    assert framed.hex() == "01070000000001000000000000000200"
    assert read_typed(METADATA_RECORDS, framed) == FENCED


@pytest.mark.parametrize(
    ("prefix", "complaint"),
    [
        ("000700", "frame version 0 is not 1"),
        ("020700", "frame version 2 is not 1"),
        ("016300", "unknown type 99"),
        ("010763", "FenceBrokerRecord has versions 0 to 0, not 99"),
    ],
)
def test_what_a_newer_broker_wrote_is_refused(prefix: str, complaint: str) -> None:
    with pytest.raises(UnsupportedVersionError, match=complaint):
        read_typed(METADATA_RECORDS, bytes.fromhex(prefix) + bytes(13))


@pytest.mark.parametrize("framed", ["", "01", "0107", "01ffffffffff01", "010700", "01070000"])
def test_a_damaged_metadata_record_is_malformed(framed: str) -> None:
    with pytest.raises(MalformedError):
        read_typed(METADATA_RECORDS, bytes.fromhex(framed))


def test_a_coordinator_key_is_led_by_its_type() -> None:
    assert write_key(OffsetCommitKey(group="g", topic="t", partition=1)).hex() == (
        "000100016700017400000001"
    )


def test_an_unknown_type_of_key_is_told_from_a_damaged_one() -> None:
    with pytest.raises(UnsupportedVersionError, match="unknown type 99"):
        read_coordinator_record(GROUP_RECORDS, (99).to_bytes(2), None)
    with pytest.raises(MalformedError, match="truncated"):
        read_coordinator_record(GROUP_RECORDS, b"\0", None)


def test_consumer_protocol_data_is_led_by_its_version() -> None:
    assignment = ConsumerProtocolAssignment(assigned_partitions=[], user_data=b"u")
    framed = write_versioned(assignment, 1)
    assert framed.hex() == "0001000000000000000175"
    assert read_versioned(ConsumerProtocolAssignment, framed) == assignment
