"""What a connection has yet to send, in order: bytes, and ranges of files.

Bytes go through the transport. Ranges of files go from the page cache to the socket, past the
transport, whenever it holds nothing back. uvloop has no sendfile of its own, and watches the socket
itself: so a duplicate of the descriptor is what is watched here, made for the first file.

What is not in memory yet is brought there by a thread before it is sent: the event loop never waits
for the disk.

Not here: the order of answers (connection.py).
"""

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol, cast

from snakka.protocol.codec import Chunk
from snakka.protocol.types import Buffer
from snakka.storage.cold import bring_into_memory

_MORE: Final = getattr(socket, "MSG_MORE", 0)  # Linux only
_WARM_BYTES_MAX: Final = 1024 * 1024  # at a time, so that memory holds it until it is sent


class OpenFile(Protocol):
    def fileno(self) -> int: ...
    def read(self, position: int, size_bytes: int) -> bytes: ...
    def is_in_memory(self, position: int, size_bytes: int) -> bool: ...


class FileRange(Protocol):
    """Bytes in a row of a file that stays open while this is held."""

    @property
    def file(self) -> OpenFile: ...
    @property
    def position(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...


class FileRecords(Protocol):
    """Records of a response that are still in files."""

    @property
    def ranges(self) -> Iterable[FileRange]: ...


class Outbox:
    """Everything between an answer and the socket."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        on_emptied: Callable[[], None],
    ) -> None:
        """`on_emptied` is told when everything has gone out that could not at once."""
        self._on_emptied = on_emptied
        self._transport = transport
        self._loop = loop
        self._queue: deque[Buffer | _Sending] = deque()
        self._socket: socket.socket | None = None
        self._is_paused = False
        self._is_watching = False
        self._is_warming = False
        self._is_closed = False
        self.size_bytes = 0
        # The transport is to say when it has sent all: only then may a file follow.
        transport.set_write_buffer_limits(high=0)

    def put(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            if isinstance(chunk, Buffer):
                self._queue.append(chunk)
                self.size_bytes += len(chunk)
            else:  # to ask whether it really is would cost more than all the rest here
                records = cast(FileRecords, chunk)
                self._queue.extend(_Sending(each) for each in records.ranges)

    def flush(self) -> None:
        """Sends until the socket takes no more."""
        while self._queue and not (self._is_paused or self._is_watching or self._is_warming):
            if isinstance(self._queue[0], _Sending):
                self._send_file(self._queue[0])
            else:
                self._send_bytes()

    @property
    def is_empty(self) -> bool:
        return not self._queue

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._go_on()

    def close(self) -> None:
        self._is_closed = True
        self._queue.clear()
        if self._socket is not None:
            if self._is_watching:
                self._loop.remove_writer(self._socket)
            self._socket.close()

    def _send_bytes(self) -> None:
        run: list[Buffer] = []
        while self._queue and not isinstance(self._queue[0], _Sending):
            chunk = self._queue.popleft()
            assert not isinstance(chunk, _Sending)
            run.append(chunk)
            self.size_bytes -= len(chunk)
        data: Buffer = run[0] if len(run) == 1 else b"".join(run)
        if self._queue:
            data = self._send_ahead(data)
        if data:
            self._transport.write(data)

    def _send_ahead(self, data: Buffer) -> Buffer:
        """Sends what comes before a file so that it does not leave alone; what it could not."""
        try:
            return memoryview(data)[self._duplicate().send(data, _MORE) :]
        except OSError:  # if it is more than a full socket, the transport finds out
            return data

    def _send_file(self, sending: "_Sending") -> None:
        if not sending.is_warm():
            self._warm(sending)
            return
        size = sending.warm_until - sending.position
        try:
            out = self._duplicate()
            sent = os.sendfile(out.fileno(), sending.file.fileno(), sending.position, size)
        except BlockingIOError:
            self._is_watching = True
            self._loop.add_writer(out, self._on_writable)
            return
        except OSError:
            self._give_up()
            return
        if not sent:  # the file is shorter than it was: the client cannot be told any more
            self._give_up()
            return
        sending.position += sent
        sending.left -= sent
        if not sending.left:
            self._queue.popleft()

    def _duplicate(self) -> socket.socket:
        if self._socket is None:
            if self._transport.is_closing():  # its descriptor may be another's by now
                raise ConnectionAbortedError
            descriptor = self._transport.get_extra_info("socket").fileno()
            self._socket = socket.socket(fileno=os.dup(descriptor))
            self._socket.setblocking(False)
        return self._socket

    def _give_up(self) -> None:
        self._transport.abort()
        self._queue.clear()

    def _warm(self, sending: "_Sending") -> None:
        self._is_warming = True
        warming = self._loop.run_in_executor(None, sending.warm)
        warming.add_done_callback(self._on_warm)

    def _on_warm(self, warming: "asyncio.Future[None]") -> None:
        self._is_warming = False
        if self._is_closed or warming.cancelled():
            return
        if warming.exception() is not None:
            self._give_up()
        self._go_on()

    def _on_writable(self) -> None:
        self._loop.remove_writer(self._duplicate())
        self._is_watching = False
        self._go_on()

    def _go_on(self) -> None:
        self.flush()
        if not self._queue:
            self._on_emptied()


class _Sending:
    """A range of a file, and how much of it is left to send."""

    __slots__ = ("file", "left", "position", "warm_until")

    def __init__(self, source: FileRange) -> None:
        self.file = source.file
        self.position = source.position
        self.left = source.size_bytes
        self.warm_until = source.position

    def is_warm(self) -> bool:
        """Whether what comes next can be sent without waiting for the disk."""
        if self.position < self.warm_until:
            return True
        size = min(self.left, _WARM_BYTES_MAX)
        if not self.file.is_in_memory(self.position, size):
            return False
        self.warm_until = self.position + size
        return True

    def warm(self) -> None:
        """Blocks until it can."""
        size = min(self.left, _WARM_BYTES_MAX)
        bring_into_memory(self.file, self.position, size)
        self.warm_until = self.position + size
