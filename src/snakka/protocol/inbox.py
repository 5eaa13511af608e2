"""What a connection has received, until it is whole frames.

A connection holds memory only while it has something: an idle one nothing, one that stopped inside
a frame little more than the bytes it sent. A frame is a view of the buffer that was read into, so
`settle` may be called only when all frames are taken and nobody looks at them any more.

Not here: what is in a frame.
"""

from typing import Final

from snakka.protocol.frames import SIZE_BYTES, find_frame_size

READ_BYTES: Final = 64 * 1024
_FREE_MAX: Final = 256
_TRUSTED_FRAME_BYTES: Final = 1024 * 1024  # what may be allocated on the word of a frame's size


class BufferPool:
    """Buffers to read into, shared by the connections of a node."""

    def __init__(self) -> None:
        self._free: list[bytearray] = []

    def take(self) -> bytearray:
        return self._free.pop() if self._free else bytearray(READ_BYTES)

    def give(self, buffer: bytearray) -> None:
        if len(buffer) == READ_BYTES and len(self._free) < _FREE_MAX:
            self._free.append(buffer)


class Inbox:
    """The received bytes of one connection."""

    def __init__(self, pool: BufferPool, frame_bytes_max: int) -> None:
        self._pool = pool
        self._frame_bytes_max = frame_bytes_max
        self._buffer: bytearray | None = None
        self._start = 0  # of what has not been taken
        self._end = 0  # of what has been received
        self._rest = b""  # of a frame that has just begun, while there is no buffer

    def space(self) -> memoryview:
        """Where to put what comes next."""
        if self._buffer is None:
            self._adopt(self._pool.take(), self._rest)
            self._rest = b""
        elif self._end == len(self._buffer):
            self._grow(self._buffer)
        assert self._buffer is not None
        return memoryview(self._buffer)[self._end :]

    def received(self, size_bytes: int) -> None:
        self._end += size_bytes

    def take_frame(self) -> memoryview | None:
        """The next whole frame without its size; MalformedError where the size cannot be."""
        if self._buffer is None:
            return None
        with memoryview(self._buffer)[: self._end] as received:
            size = find_frame_size(received, self._start, self._frame_bytes_max)
        if size is None:
            return None
        start = self._start + SIZE_BYTES
        if size > self._end - start:
            return None
        self._start = start + size
        return memoryview(self._buffer)[start : self._start]

    def settle(self) -> None:
        """Gives the buffer back unless much of a frame is in it."""
        buffer = self._buffer
        left = self._end - self._start
        if buffer is None or left > READ_BYTES // 16:
            return
        self._rest = bytes(buffer[self._start : self._end])
        self._buffer = None
        self._pool.give(buffer)

    def _grow(self, full: bytearray) -> None:
        """A new buffer, since frames in the old one may still be in use."""
        left = full[self._start :]
        needed = SIZE_BYTES + (find_frame_size(left, 0, self._frame_bytes_max) or 0)
        size = min(needed, max(2 * len(left), _TRUSTED_FRAME_BYTES))
        self._adopt(bytearray(max(size, READ_BYTES, len(left) + READ_BYTES // 2)), left)

    def _adopt(self, buffer: bytearray, left: bytes | bytearray) -> None:
        buffer[: len(left)] = left
        self._buffer, self._start, self._end = buffer, 0, len(left)
