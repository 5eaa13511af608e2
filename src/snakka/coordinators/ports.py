"""What coordinators need of the world: a partition's log, time, and the machine that they run."""

from asyncio import Future
from collections.abc import Callable
from typing import Protocol

from snakka.coordinators.decision import Decision, WrittenRecord


class CoordinatorLog(Protocol):
    """The log of a partition that this broker leads."""

    @property
    def start_offset(self) -> int:
        """The offset of the first record."""

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""

    def append(self, batch: bytearray, leader_epoch: int, transaction_version: int = 0) -> int:
        """Appends a batch, and returns the end offset after it.

        `transaction_version` is that of the transaction which a marker ends. LogRefusedError where
        the log does not take the batch, or the partition is led in another epoch.
        """

    def committed(self, offset: int) -> Future[None]:
        """Done once the high watermark reaches `offset`; fails where leadership is lost before."""

    async def read(self, offset: int, max_bytes: int) -> bytes:
        """Batches from `offset` on, the first one whole; empty at the end. A tail may be cut.

        LogRefusedError or OSError where they cannot be read.
        """


class Timer(Protocol):
    """A planned call."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """Time that does not jump: sessions must not end because a clock was set."""

    def now_ms(self) -> int: ...

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer: ...


class Machine(Protocol):
    """What a partition's records add up to. Only replay changes what has to survive."""

    def replay(self, record: WrittenRecord) -> None: ...

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None: ...

    def on_loaded(self, now_ms: int) -> Decision[None]:
        """All records are replayed; from here on there are commands and deadlines."""

    def next_deadline_ms(self) -> int | None: ...

    def expire(self, now_ms: int) -> Decision[None]: ...
