"""A log directory that fails is let go of, and the node goes on with the others (KIP-112).

Without the directory of the metadata log, or without any, it cannot: then it stops.

Not here: what a failure means for replicas (hosting.py), moves (moves.py), membership.
"""

import asyncio
import logging
from collections.abc import Callable

from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory

log = logging.getLogger(__name__)


class DirectoryFailures:
    """Hears of failures from any thread, and tells of each directory once, on the event loop."""

    def __init__(self, metadata_path: str, stop: Callable[[str], None]) -> None:
        self._metadata_path = metadata_path
        self._stop = stop
        self._loop = asyncio.get_running_loop()
        self._listeners: list[Callable[[LogDirectory], None]] = []
        self.directories: LogDirectories

    def listen(self, listener: Callable[[LogDirectory], None]) -> None:
        """Is told of every directory, which has been taken offline by then."""
        self._listeners.append(listener)

    def report(self, path: str, error: OSError) -> None:
        self._loop.call_soon_threadsafe(self._fail, path, str(error))

    def _fail(self, path: str, reason: str) -> None:
        directory = self.directories.take_offline(path, reason)
        if directory is not None:
            log.error("%s has failed, and is let go of: %s", path, reason)
            for listener in self._listeners:
                listener(directory)
        if path == self._metadata_path:
            self._stop(f"{path}, which has the metadata log, has failed: {reason}")
        elif not self.directories.online:
            self._stop(f"all of log.dirs have failed, {path} last: {reason}")
