"""What a connection has yet to send, in order: bytes, and ranges of files.

Bytes go through the transport. Ranges of files go from the page cache to the socket, past the
transport, whenever it holds nothing back. uvloop has no sendfile of its own, and watches the socket
itself: so a duplicate of the descriptor is what is watched here.

Not here: the order of answers (connection.py).
"""

import asyncio
import os
from collections import deque
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from snakka.protocol.codec import Chunk
from snakka.protocol.types import Buffer


class OpenFile(Protocol):
    def fileno(self) -> int: ...


class FileRange(Protocol):
    """Bytes in a row of a file that stays open while this is held."""

    @property
    def file(self) -> OpenFile: ...
    @property
    def position(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...


@runtime_checkable
class FileRecords(Protocol):
    """Records of a response that are still in files."""

    @property
    def ranges(self) -> Iterable[FileRange]: ...


class Outbox:
    """Everything between an answer and the socket."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._queue: deque[Buffer | _Sending] = deque()
        self._socket = os.dup(transport.get_extra_info("socket").fileno())
        self._is_paused = False
        self._is_watching = False
        self.size_bytes = 0
        # The transport is to say when it has sent all: only then may a file follow.
        transport.set_write_buffer_limits(high=0)

    def put(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            if isinstance(chunk, Buffer):
                self._queue.append(chunk)
                self.size_bytes += len(chunk)
            else:
                assert isinstance(chunk, FileRecords)
                self._queue.extend(_Sending(each) for each in chunk.ranges)

    def flush(self) -> None:
        """Sends until the socket takes no more."""
        while self._queue and not self._is_paused and not self._is_watching:
            if isinstance(self._queue[0], _Sending):
                self._send_file(self._queue[0])
            else:
                self._send_bytes()

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self.flush()

    def close(self) -> None:
        self._queue.clear()
        if self._is_watching:
            self._loop.remove_writer(self._socket)
        os.close(self._socket)

    def _send_bytes(self) -> None:
        run: list[Buffer] = []
        while self._queue and not isinstance(self._queue[0], _Sending):
            chunk = self._queue.popleft()
            assert not isinstance(chunk, _Sending)
            run.append(chunk)
            self.size_bytes -= len(chunk)
        self._transport.write(run[0] if len(run) == 1 else b"".join(run))

    def _send_file(self, sending: "_Sending") -> None:
        try:
            sent = os.sendfile(self._socket, sending.file.fileno(), sending.position, sending.left)
        except BlockingIOError:
            self._is_watching = True
            self._loop.add_writer(self._socket, self._on_writable)
            return
        except OSError:
            self._transport.abort()
            self._queue.clear()
            return
        if not sent:  # the file is shorter than it was: the client cannot be told any more
            self._transport.abort()
            self._queue.clear()
            return
        sending.position += sent
        sending.left -= sent
        if not sending.left:
            self._queue.popleft()

    def _on_writable(self) -> None:
        self._loop.remove_writer(self._socket)
        self._is_watching = False
        self.flush()


class _Sending:
    """A range of a file, and how much of it is left to send."""

    __slots__ = ("file", "left", "position")

    def __init__(self, source: FileRange) -> None:
        self.file = source.file
        self.position = source.position
        self.left = source.size_bytes
