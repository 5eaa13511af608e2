"""Snapshots of the metadata that this node writes, and the log that they replace (KIP-630).

One is due after so many bytes of records, or so much time if there were any. An image never
changes, so a thread writes it while the log goes on. Log and older snapshots are kept as long as
retention allows, and the newest snapshot always.

Not here: the files (snapshot_files.py), snapshots that come from the leader (quorum).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.config.broker import BrokerConfig
from snakka.metadata.image import MetadataImage
from snakka.metadata.snapshot import snapshot_records
from snakka.metadata.versions import record_version
from snakka.node.metadata_follower import Committed, MetadataFollower
from snakka.node.metadata_log import MetadataLog
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.internal.frames import write_typed
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.quorum.control_records import end_of
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.snapshot_format import snapshot_footer, snapshot_header

log = logging.getLogger(__name__)

_CLEANING_INTERVAL_S: Final = 60.0
_POLL_S: Final = 0.05  # while one is due that cannot be written yet
_BATCH_BYTES: Final = 1024 * 1024
_NEVER: Final = 0


@dataclass(frozen=True, slots=True)
class SnapshotConfig:
    """Under Kafka's names, without their `metadata.`."""

    log_max_record_bytes_between_snapshots: int
    log_max_snapshot_interval_ms: int
    max_retention_bytes: int
    max_retention_ms: int

    @classmethod
    def of(cls, config: BrokerConfig) -> "SnapshotConfig":
        return cls(
            config.get_int("metadata.log.max.record.bytes.between.snapshots"),
            config.get_int("metadata.log.max.snapshot.interval.ms"),
            config.get_int("metadata.max.retention.bytes"),
            config.get_int("metadata.max.retention.ms"),
        )


class SnapshotFacts(NamedTuple):
    """What retention looks at."""

    snapshot_id: OffsetAndEpoch
    size_bytes: int
    last_timestamp_ms: int  # of the records in it


def is_oldest_due(
    snapshots: Sequence[SnapshotFacts], log_bytes: int, config: SnapshotConfig, now_ms: int
) -> bool:
    """Whether the oldest snapshot goes, and with it the log up to the next: never the last one."""
    if len(snapshots) < 2:
        return False
    total_bytes = log_bytes + sum(each.size_bytes for each in snapshots)
    if 0 <= config.max_retention_bytes < total_bytes:
        return True
    age_ms = now_ms - snapshots[0].last_timestamp_ms
    return 0 <= config.max_retention_ms < age_ms


class Snapshotting:
    """Writes snapshots of what the follower has applied, and cleans up behind them."""

    def __init__(
        self,
        follower: MetadataFollower,
        replica: QuorumReplica,
        metadata_log: MetadataLog,
        files: SnapshotFiles,
        config: SnapshotConfig,
        now_ms: Callable[[], int],
    ) -> None:
        self._follower = follower
        self._replica = replica
        self._log = metadata_log
        self._files = files
        self._config = config
        self._now_ms = now_ms
        self._bytes = 0  # of records since the last snapshot
        self._last_ms = now_ms()
        self._woken = asyncio.Event()
        follower.watch_commits(self._on_committed)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Snapshots are written inside."""
        task = asyncio.get_running_loop().create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    def _on_committed(self, committed: Committed) -> None:
        is_first = not self._bytes
        self._bytes += committed.size_bytes
        if is_first or self._is_due:
            self._woken.set()

    @property
    def _is_due(self) -> bool:
        if self._bytes >= self._config.log_max_record_bytes_between_snapshots:
            return True
        left_ms = self._left_ms
        return left_ms is not None and left_ms <= 0

    @property
    def _left_ms(self) -> int | None:
        """Until one is due by time; None as long as there is nothing new."""
        interval_ms = self._config.log_max_snapshot_interval_ms
        if interval_ms == _NEVER or not self._bytes:
            return None
        return self._last_ms + interval_ms - self._now_ms()

    async def _run(self) -> None:
        while True:
            left_ms = self._left_ms
            left_s = _CLEANING_INTERVAL_S if left_ms is None else max(left_ms / 1000, _POLL_S)
            # Not wait_for, which in Python 3.11 forgets a cancellation that comes with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left_s, _CLEANING_INTERVAL_S)):
                    await self._woken.wait()
            self._woken.clear()
            try:
                # Records of a transaction that has not ended are in no image yet.
                if self._is_due and not self._follower.is_in_transaction:
                    await self._write(self._follower.image)
                await self._clean()
            except OSError:
                log.exception("cannot write or remove a snapshot of the metadata")

    async def _write(self, image: MetadataImage) -> None:
        self._bytes = 0
        last = image.provenance
        snapshot_id = OffsetAndEpoch(last.offset + 1, last.epoch)
        latest = self._files.latest()
        if latest is not None and latest.offset >= snapshot_id.offset:
            return
        self._last_ms = self._now_ms()
        self._replica.check_snapshot(snapshot_id)
        header = snapshot_header(
            self._replica.quorum.history,
            snapshot_id.offset,
            last_contained_log_timestamp=last.timestamp_ms,
            now_ms=self._last_ms,
        )
        chunks = snapshot_chunks(image, header, self._last_ms)
        await asyncio.to_thread(self._files.write_whole, snapshot_id, chunks)
        self._files.add(snapshot_id)
        log.info("a snapshot of the metadata up to offset %d is written", last.offset)

    async def _clean(self) -> None:
        facts = await asyncio.to_thread(self._files.read_facts)
        snapshots = [SnapshotFacts(*each) for each in facts]
        while is_oldest_due(snapshots, self._log.size_bytes, self._config, self._now_ms()):
            del snapshots[0]
            start = snapshots[0].snapshot_id
            if start.offset > self._log.start_offset:
                self._replica.advance_log_start(start)
            await asyncio.to_thread(self._files.remove_before, start)
            await asyncio.to_thread(self._log.delete_retired)


def snapshot_chunks(image: MetadataImage, header: bytes, now_ms: int) -> Iterator[bytes]:
    """The whole snapshot: the header, batches of records, the footer."""
    yield header
    epoch, level = image.provenance.epoch, image.metadata_version
    offset = end_of(header)
    records: list[Record] = []
    size_bytes = 0
    for each in snapshot_records(image):
        value = write_typed(each, record_version(each, level))
        records.append(Record(offset, now_ms, None, value))
        offset += 1
        size_bytes += len(value)
        if size_bytes >= _BATCH_BYTES:
            yield build_batch(records, leader_epoch=epoch)
            records, size_bytes = [], 0
    if records:
        yield build_batch(records, leader_epoch=epoch)
    yield snapshot_footer(offset, now_ms=now_ms)
