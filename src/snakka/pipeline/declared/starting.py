"""Where a source is read from that the pipeline has not read before, as options say it. Pure."""

from datetime import UTC, datetime


def starting_option(text: str) -> dict[str, str]:
    """What the declaration says, as an option of the source `snakka`."""
    if text.lower() in ("earliest", "latest") or text.startswith("{"):
        return {"startingOffsets": text}
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return {
        "startingTimestamp": str(round(aware.timestamp() * 1000)),
        "startingOffsetsByTimestampStrategy": "latest",
    }
