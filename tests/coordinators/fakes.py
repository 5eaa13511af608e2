"""A log in memory whose high watermark the test moves, and time that the test moves."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from snakka.coordinators.errors import LogRefusedError
from snakka.coordinators.ports import Timer
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.batch import BatchHeader, assign_offset


class FakeLog:
    """Batches in a list. With `commits_at_once` it is the log of a partition with one replica."""

    def __init__(self, *, leader_epoch: int = 0, commits_at_once: bool = True) -> None:
        self.leader_epoch = leader_epoch
        self.commits_at_once = commits_at_once
        self.batches: list[bytes] = []
        self.start_offset = 0
        self.high_watermark = 0
        self.refusal: ErrorCode | None = None
        self.reads = 0
        self.read_gate: asyncio.Event | None = None
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    @property
    def end_offset(self) -> int:
        return BatchHeader.read(self.batches[-1]).next_offset if self.batches else self.start_offset

    def append(self, batch: bytearray, leader_epoch: int, transaction_version: int = 0) -> int:
        if self.refusal is not None:
            raise LogRefusedError(self.refusal)
        if leader_epoch != self.leader_epoch:
            raise LogRefusedError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        assign_offset(batch, self.end_offset, leader_epoch)
        self.batches.append(bytes(batch))
        if self.commits_at_once:
            self.commit()
        return self.end_offset

    def committed(self, offset: int) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if offset <= self.high_watermark:
            future.set_result(None)
        else:
            self._waiting.append((offset, future))
        return future

    def commit(self, offset: int | None = None) -> None:
        """The replicas in sync have everything before `offset`."""
        self.high_watermark = self.end_offset if offset is None else offset
        for at, future in self._waiting:
            if at <= self.high_watermark and not future.done():
                future.set_result(None)

    def lose_leadership(self) -> None:
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(LogRefusedError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    async def read(self, offset: int, max_bytes: int) -> bytes:
        self.reads += 1
        if self.read_gate is not None:
            await self.read_gate.wait()
        data = b"".join(
            each for each in self.batches if BatchHeader.read(each).last_offset >= offset
        )
        first = BatchHeader.read(data).size_bytes if data else 0
        return data[: max(first, max_bytes)]


@dataclass(slots=True)
class FakeTimer:
    callback: Callable[[], None] | None

    def cancel(self) -> None:
        self.callback = None


@dataclass(slots=True)
class FakeTimers:
    """Timers that go off while the test advances time."""

    time_ms: int = 1_000_000
    _planned: list[tuple[int, int, FakeTimer]] = field(default_factory=list)
    _count: int = 0

    def now_ms(self) -> int:
        return self.time_ms

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        timer = FakeTimer(callback)
        self._count += 1
        heapq.heappush(self._planned, (self.time_ms + delay_ms, self._count, timer))
        return timer

    def advance(self, by_ms: int) -> None:
        end_ms = self.time_ms + by_ms
        while self._planned and self._planned[0][0] <= end_ms:
            at_ms, _, timer = heapq.heappop(self._planned)
            self.time_ms = max(self.time_ms, at_ms)
            if timer.callback is not None:
                timer.callback()
        self.time_ms = end_ms


async def settle() -> None:
    """Lets everything happen that is ready to."""
    for _ in range(20):
        await asyncio.sleep(0)
