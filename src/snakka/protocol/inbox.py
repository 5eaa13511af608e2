"""What a connection has received, until it is whole frames.

A connection holds memory only while it has something: an idle one nothing, one that stopped inside
a frame little more than the bytes it sent. A frame is a view of the buffer that was read into, so
`settle` may be called only when all frames are taken and nobody looks at them any more.

Not here: what is in a frame.
"""

from typing import Final

from snakka.protocol.frames import SIZE_BYTES, find_frame_size

READ_BYTES: Final = 64 * 1024
_REUSED_BYTES_MAX: Final = 2 * 1024 * 1024  # of one buffer: memory that is new costs a fault a page
_FREE_BYTES_MAX: Final = 16 * 1024 * 1024
_TRUSTED_FRAME_BYTES: Final = 1024 * 1024


class BufferPool:
    """Buffers to read into, shared by the connections of a node."""

    def __init__(self) -> None:
        self._free: dict[int, list[bytearray]] = {}
        self._free_bytes = 0

    def take(self, size_bytes: int = READ_BYTES) -> bytearray:
        """One of that size, or somewhat larger."""
        if size_bytes > _REUSED_BYTES_MAX:
            return bytearray(size_bytes)
        size_bytes = 1 << (size_bytes - 1).bit_length()
        free = self._free.get(size_bytes)
        if not free:
            return bytearray(size_bytes)
        self._free_bytes -= size_bytes
        return free.pop()

    def give(self, buffer: bytearray) -> None:
        size_bytes = len(buffer)
        free_bytes = self._free_bytes + size_bytes
        if size_bytes <= _REUSED_BYTES_MAX and free_bytes <= _FREE_BYTES_MAX:
            self._free_bytes = free_bytes
            self._free.setdefault(size_bytes, []).append(buffer)


class Inbox:
    """The received bytes of one connection.

    `trusted_bytes` is what is allocated at once on the word of a frame's size; of a larger frame as
    much again as has come.
    """

    def __init__(
        self, pool: BufferPool, frame_bytes_max: int, trusted_bytes: int = _TRUSTED_FRAME_BYTES
    ) -> None:
        self._pool = pool
        self._frame_bytes_max = frame_bytes_max
        self._trusted_bytes = trusted_bytes
        self._buffer: bytearray | None = None
        self._retired: bytearray | None = None  # full, until its frames are of no more use
        self._start = 0  # of what has not been taken
        self._end = 0  # of what has been received
        self._limit = 0  # of what is to be received here: a large frame has a buffer of its own
        self._rest = b""  # of a frame that has just begun, while there is no buffer

    def space(self) -> memoryview:
        """Where to put what comes next."""
        if self._buffer is None:
            buffer = self._pool.take()
            self._adopt(buffer, len(buffer), self._rest)
            self._rest = b""
        elif self._end == self._limit:
            self._grow(self._buffer)
        assert self._buffer is not None
        return memoryview(self._buffer)[self._end : self._limit]

    def received(self, size_bytes: int) -> None:
        self._end += size_bytes

    def take_frame(self) -> memoryview | None:
        """The next whole frame without its size; MalformedError where the size cannot be."""
        start = self._start + SIZE_BYTES
        if self._buffer is None or start > self._end:
            return None
        size = find_frame_size(self._buffer, self._start, self._frame_bytes_max)
        if size is None or size > self._end - start:
            return None
        self._start = start + size
        return memoryview(self._buffer)[start : self._start]

    def settle(self) -> None:
        """Gives the buffer back unless much of a frame is in it."""
        if self._retired is not None:
            self._pool.give(self._retired)
            self._retired = None
        buffer = self._buffer
        left = self._end - self._start
        if buffer is None or left > READ_BYTES // 16:
            return
        self._rest = bytes(buffer[self._start : self._end])
        self._buffer = None
        self._pool.give(buffer)

    def _grow(self, full: bytearray) -> None:
        """A new buffer, since frames in the old one may still be in use."""
        left = full[self._start : self._end]
        needed = SIZE_BYTES + (find_frame_size(left, 0, self._frame_bytes_max) or 0)
        size = min(needed, max(2 * len(left), self._trusted_bytes))
        size = max(size, READ_BYTES, len(left) + READ_BYTES // 2)
        if self._start == 0:
            self._pool.give(full)  # there are none
        elif self._retired is None:
            self._retired = full
        self._adopt(self._pool.take(size), size, left)

    def _adopt(self, buffer: bytearray, limit: int, left: bytes | bytearray) -> None:
        buffer[: len(left)] = left
        self._buffer, self._start, self._end, self._limit = buffer, 0, len(left), limit
