"""Points in time and in a log, as users write them. Pure."""

from dataclasses import dataclass
from datetime import datetime

from snakka.client.list_offsets import EARLIEST, LATEST


@dataclass(frozen=True, slots=True)
class StartAt:
    """A timestamp, or EARLIEST or LATEST, and so many records on or back from what is found."""

    timestamp_ms: int
    shift: int = 0


def parse_start(text: str) -> StartAt:
    """`start`, `end`, `N`, `-N` (before the end) or `@TIME`; ValueError where it is none."""
    match text:
        case "start" | "beginning" | "earliest":
            return StartAt(EARLIEST)
        case "end" | "latest":
            return StartAt(LATEST)
    if text.startswith("@"):
        return StartAt(parse_time_ms(text[1:]))
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{text!r} is none of start, end, N, -N and @TIME") from None
    if number == 0:
        return StartAt(EARLIEST)
    return StartAt(LATEST if number < 0 else 0, number)


def parse_time_ms(text: str) -> int:
    """Milliseconds since 1970, or an ISO 8601 date and time, of this machine's zone if it names
    none."""
    if text.isdecimal():
        return int(text)
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise ValueError(
            f"{text!r} is neither milliseconds nor a time such as 2026-01-31T12:00:00"
        ) from None
