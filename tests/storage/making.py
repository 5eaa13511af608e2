"""Batches and logs for the tests of storage."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from snakka.protocol.types import Uuid
from snakka.storage.compaction.compact import Compacted, Compaction, look_at
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.config import CleanerConfig, LogConfig
from snakka.storage.disk import Disk
from snakka.storage.log import Log
from snakka.storage.log_state import Appended
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from snakka.storage.validate import AppendOrigin

DIRECTORY = "/logs/t-0"
NOW_MS = 1_000_000
TOPIC_ID = Uuid(b"topic-id-of-test")
SMALL_MAP = CleanerConfig(dedupe_buffer_size=1 << 14)


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


def keyed(
    *records: tuple[bytes | None, bytes | None],
    timestamp_ms: int = NOW_MS,
    compression: Compression = Compression.NONE,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
) -> bytearray:
    """A batch of keys and values as a client sends it; a value of None is a tombstone."""
    return bytearray(
        build_batch(
            [Record(n, timestamp_ms + n, key, value) for n, (key, value) in enumerate(records)],
            compression=compression,
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

    def batches(self) -> list[Batch]:
        log = self.log
        start = log.log_start_offset
        data = log.read(start, max_bytes=1 << 30, max_offset=log.log_end_offset).copy()
        return list(batches(data))

    def content(self) -> dict[bytes | None, bytes | None]:
        """What a read_committed reader of the whole log ends up with: every key's last value."""
        log = self.log
        aborted = find_aborted_transactions(log, log.log_start_offset, log.log_end_offset)
        content = {}
        for batch in self.batches():
            header = batch.header
            if header.is_control or any(
                header.producer_id == entry.producer_id
                and entry.first_offset <= header.base_offset <= entry.last_offset
                for entry in aborted
            ):
                continue
            content.update({record.key: record.value for record in batch.records()})
        return content

    def begin_compaction(
        self,
        cleaned_offset: int | None = None,
        config: CleanerConfig = SMALL_MAP,
        throttle: Throttle | None = None,
    ) -> Compaction:
        cleanable = look_at(self.log, cleaned_offset, now_ms=self.now_ms)
        return Compaction(self.log, cleanable, config, now_ms=self.now_ms, throttle=throttle)

    def compact(
        self, cleaned_offset: int | None = None, config: CleanerConfig = SMALL_MAP
    ) -> Compacted:
        """All steps of a pass in a row, in this thread."""
        self.log.update_high_watermark(self.log.log_end_offset)
        compaction = self.begin_compaction(cleaned_offset, config)
        compaction.map_keys()
        while compaction.has_more:
            compaction.clean_next()
            assert compaction.place()
        compaction.finish()
        return compaction.result

    def read(self, offset: int, max_bytes: int) -> bytes:
        return self.log.read(offset, max_bytes=max_bytes, max_offset=self.log.log_end_offset).copy()
