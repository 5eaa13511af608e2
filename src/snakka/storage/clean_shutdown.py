"""The marker that a log directory was closed properly, so that its logs need no recovery.

It holds the broker epoch for the controller to compare on registration (KIP-966). It must be gone
before the first write after a start, or a crash would pass for a clean shutdown.
"""

import json
from typing import Final, NamedTuple

from snakka.storage.disk import Disk, read_whole, replace_file
from snakka.storage.names import CLEAN_SHUTDOWN

_VERSION: Final = 0


class CleanShutdown(NamedTuple):
    """A marker that was found; its epoch is None where it cannot be read."""

    broker_epoch: int | None


def mark_clean(disk: Disk, log_directory: str, broker_epoch: int) -> None:
    content = json.dumps({"version": _VERSION, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(disk, f"{log_directory}/{CLEAN_SHUTDOWN}", content.encode())


def take_mark(disk: Disk, log_directory: str) -> CleanShutdown | None:
    """Reads the marker and removes it durably."""
    path = f"{log_directory}/{CLEAN_SHUTDOWN}"
    try:
        content = read_whole(disk, path)
    except FileNotFoundError:
        return None
    disk.remove(path)
    disk.sync_directory(log_directory)
    return CleanShutdown(_find_broker_epoch(content))


def _find_broker_epoch(content: bytes) -> int | None:
    try:
        epoch = json.loads(content)["brokerEpoch"]
    except (ValueError, KeyError, TypeError):
        return None
    return epoch if isinstance(epoch, int) else None
