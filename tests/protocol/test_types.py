"""UUIDs in Kafka's text form."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.types import ONE_UUID, ZERO_UUID, Uuid, format_uuid, parse_uuid, random_uuid


def test_the_reserved_uuids_look_as_kafka_shows_them() -> None:
    assert format_uuid(ZERO_UUID) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert format_uuid(ONE_UUID) == "AAAAAAAAAAAAAAAAAAAAAQ"


@given(st.binary(min_size=16, max_size=16).map(Uuid))
def test_text_and_back(uuid: Uuid) -> None:
    assert parse_uuid(format_uuid(uuid)) == uuid
    assert parse_uuid(format_uuid(uuid) + "==") == uuid


@pytest.mark.parametrize("text", ["", "abc", "A" * 21, "A" * 23, "A" * 24, "!" * 22, "é" * 22])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a UUID"):
        parse_uuid(text)


def test_drawn_uuids_differ_and_never_look_like_an_option() -> None:
    source = random.Random(1)
    drawn = [random_uuid(source) for _ in range(2000)]
    assert len(set(drawn)) == len(drawn)
    assert not any(format_uuid(uuid).startswith("-") for uuid in drawn)
    assert all(uuid[6] >> 4 == 4 and uuid[8] >> 6 == 2 for uuid in drawn)
    assert random_uuid(random.Random(1)) == drawn[0]
