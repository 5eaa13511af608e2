"""Batches and logs for the tests of storage."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from snakka.storage.config import LogConfig
from snakka.storage.disk import Disk
from snakka.storage.log import Appended, Log
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from snakka.storage.validate import AppendOrigin

DIRECTORY = "/logs/t-0"
NOW_MS = 1_000_000


def batch_of(
    *values: bytes,
    timestamp_ms: int | Sequence[int] = NOW_MS,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
) -> bytearray:
    """A batch as a client sends it: offsets from 0."""
    stamps = [timestamp_ms] * len(values) if isinstance(timestamp_ms, int) else timestamp_ms
    records = [
        Record(n, stamp, b"k%d" % n, value)
        for n, (value, stamp) in enumerate(zip(values, stamps, strict=True))
    ]
    return bytearray(
        build_batch(
            records,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=transactional,
        )
    )


def marker_of(
    producer_id: int, epoch: int, *, commit: bool, timestamp_ms: int = NOW_MS
) -> bytearray:
    kind = ControlType.COMMIT if commit else ControlType.ABORT
    return bytearray(
        build_end_txn_batch(
            EndTxnMarker(kind, 0),
            timestamp_ms=timestamp_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
        )
    )


@dataclass(slots=True)
class Harness:
    """A log on a disk, reopened at will. Appends are written at once."""

    disk: Disk
    config: LogConfig = field(default_factory=LogConfig)
    directory: str = DIRECTORY
    now_ms: int = NOW_MS
    files: OpenFiles = field(init=False)
    opened: OpenedLog = field(init=False)

    def __post_init__(self) -> None:
        self.open(Checkpointed(is_clean=True))

    @property
    def log(self) -> Log:
        return self.opened.log

    def open(self, checkpointed: Checkpointed) -> OpenedLog:
        self.files = OpenFiles(self.disk)
        self.opened = open_log(
            self.files,
            self.directory,
            self.config,
            random.Random(0),
            checkpointed=checkpointed,
            now_ms=self.now_ms,
        )
        return self.opened

    def reopen(self) -> OpenedLog:
        """After a clean shutdown."""
        log = self.log
        log.shut_down()
        return self.open(Checkpointed(log.log_start_offset, log.recovery_point, is_clean=True))

    def reopen_after_crash(self, recovery_point: int | None = None) -> OpenedLog:
        log = self.log
        if recovery_point is None:
            recovery_point = log.recovery_point
        return self.open(Checkpointed(log.log_start_offset, recovery_point))

    def append(self, batch: bytearray, *, leader_epoch: int = 0) -> Appended:
        appended = self.log.append_as_leader(batch, leader_epoch=leader_epoch, now_ms=self.now_ms)
        self.log.write_staged()
        return appended

    def append_marker(
        self, producer_id: int, epoch: int, *, commit: bool, leader_epoch: int = 0
    ) -> Appended:
        appended = self.log.append_as_leader(
            marker_of(producer_id, epoch, commit=commit, timestamp_ms=self.now_ms),
            leader_epoch=leader_epoch,
            now_ms=self.now_ms,
            origin=AppendOrigin.COORDINATOR,
        )
        self.log.write_staged()
        return appended

    def values(self, offset: int | None = None) -> list[tuple[int, bytes | None]]:
        """Offsets and values of all records that can be read."""
        start = self.log.log_start_offset if offset is None else offset
        found = []
        while start < self.log.log_end_offset:
            data = self.read(start, 1 << 20)
            whole = list(batches(data, ignore_partial_tail=True))
            if not whole:
                break
            for batch in whole:
                if not batch.header.is_control:
                    found += [(r.offset, r.value) for r in batch.records() if r.offset >= start]
            start = whole[-1].header.next_offset
        return found

    def read(self, offset: int, max_bytes: int) -> bytes:
        return self.log.read(offset, max_bytes=max_bytes, max_offset=self.log.log_end_offset).copy()
