"""Points in a log and in time, as users write them."""

import pytest

from snakka.cli.moments import StartAt, parse_start, parse_time_ms
from snakka.client.list_offsets import EARLIEST, LATEST


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("start", StartAt(EARLIEST)),
        ("beginning", StartAt(EARLIEST)),
        ("end", StartAt(LATEST)),
        ("17", StartAt(0, 17)),
        ("-17", StartAt(LATEST, -17)),
        ("@1234", StartAt(1234)),
        ("@1970-01-01T00:00:01+00:00", StartAt(1000)),
    ],
)
def test_where_to_begin(text: str, start: StartAt) -> None:
    assert parse_start(text) == start


def test_offset_0_is_a_place_and_no_time() -> None:
    assert parse_start("0") == StartAt(EARLIEST)


@pytest.mark.parametrize("text", ["", "middle", "1.5", "@", "@noon"])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(ValueError, match=r"is none of|is neither"):
        parse_start(text)


def test_a_date_is_of_this_machines_zone() -> None:
    assert parse_time_ms("2026-01-31") == parse_time_ms("2026-01-31T00:00:00")
