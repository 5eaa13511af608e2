"""The metadata log on disk: `__cluster_metadata-0`, an ordinary log behind the quorum's port.

It is recovered as a whole on every start; what a snapshot covers is not read again.
Not here: snapshots (snapshot_files.py), what the records mean (metadata).
"""

import random
from collections.abc import Callable, Sequence
from typing import Final

from snakka.protocol.records.batch import batches
from snakka.protocol.types import Buffer
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from snakka.storage.names import METADATA_TOPIC
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from snakka.storage.retention import enforce_retention
from snakka.storage.truncation import truncate_fully, truncate_to

METADATA_DIRECTORY: Final = f"{METADATA_TOPIC}-0"


class MetadataLog:
    """The quorum's log. Blocks wherever it reads or writes, but for short appends."""

    def __init__(self, log: Log, starts_after: OffsetAndEpoch, now_ms: Callable[[], int]) -> None:
        self.log = log
        self._starts_after = starts_after
        self._now_ms = now_ms

    @classmethod
    def open(
        cls,
        files: OpenFiles,
        directory: str,
        config: LogConfig,
        rng: random.Random,
        *,
        snapshots: Sequence[OffsetAndEpoch],
        now_ms: Callable[[], int],
    ) -> tuple["MetadataLog", OpenedLog]:
        """Opens the log in `directory`, which starts after the earliest snapshot.

        A crash may bring back snapshots whose log is gone: it then starts after the first that is
        followed by all there is.
        """
        earliest = next(iter(snapshots), BOOTSTRAP_SNAPSHOT)
        checkpointed = Checkpointed(log_start_offset=earliest.offset)
        opened = open_log(files, directory, config, rng, checkpointed=checkpointed, now_ms=now_ms())
        start_offset = opened.log.log_start_offset
        starts_after = next((each for each in snapshots if each.offset >= start_offset), earliest)
        metadata_log = cls(opened.log, starts_after, now_ms)
        if start_offset < starts_after.offset <= opened.log.log_end_offset:
            metadata_log.advance_start(starts_after)
        return metadata_log, opened

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def starts_after(self) -> OffsetAndEpoch:
        return self._starts_after

    @property
    def end(self) -> OffsetAndEpoch:
        epoch = self.log.epochs.latest_epoch
        if epoch is None:
            return OffsetAndEpoch(self.log.log_end_offset, self._starts_after.epoch)
        return OffsetAndEpoch(self.log.log_end_offset, epoch)

    def epoch_end(self, epoch: int) -> OffsetAndEpoch:
        latest = self.log.epochs.latest_epoch
        if latest is None or epoch >= latest:
            return self.end
        found = self.log.epochs.find_end_offset(epoch, self.log.log_end_offset)
        if found is None or not any(each.epoch <= epoch for each in self.log.epochs.entries):
            return self._starts_after
        return OffsetAndEpoch(found.end_offset, found.epoch)

    @property
    def size_bytes(self) -> int:
        return self.log.segments.size_bytes

    def append(self, batches: Buffer) -> None:
        self.log.append_as_follower(batches, now_ms=self._now_ms())
        self.log.write_staged()

    def truncate(self, end_offset: int) -> None:
        truncate_to(self.log, end_offset)

    def read(self, offset: int, max_bytes: int) -> Buffer:
        read = self.log.read(offset, max_bytes=max_bytes, max_offset=self.log.log_end_offset)
        return whole_batches(read.copy())

    def restart_after(self, snapshot_id: OffsetAndEpoch) -> None:
        truncate_fully(self.log, snapshot_id.offset)
        self._starts_after = snapshot_id

    def advance_start(self, snapshot_id: OffsetAndEpoch) -> None:
        self.log.update_high_watermark(snapshot_id.offset)
        self.log.advance_log_start(snapshot_id.offset)
        self._starts_after = snapshot_id
        enforce_retention(self.log, now_ms=self._now_ms())

    def delete_retired(self) -> None:
        """Unlinks the segments that are gone. May run in a thread."""
        self.log.segments.delete_retired()


def whole_batches(data: Buffer) -> memoryview:
    """`data` without the batch at its end that is cut short."""
    size = sum(len(batch.data) for batch in batches(data, ignore_partial_tail=True))
    return memoryview(data)[:size]
