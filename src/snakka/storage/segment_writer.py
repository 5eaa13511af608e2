"""Appending to the active segment: staging batches, and writing them in one go.

A staged batch has its place, but nobody reads it before `write`. The staged buffers are the
caller's own and must stay as they are until then.

Not here: offsets and producers (log.py).
"""

from snakka.protocol.records.batch import PREFIX_BYTES, BatchHeader
from snakka.protocol.types import Buffer
from snakka.storage.config import LogConfig
from snakka.storage.indexes import RELATIVE_OFFSET_MAX
from snakka.storage.names import LOG_SUFFIX
from snakka.storage.scan import scan_headers
from snakka.storage.segment import Segment
from snakka.storage.transaction_index import AbortedTransaction


class SegmentWriter:
    """The writing end of a log's last segment. Lends the segment its indexes until `close`."""

    __slots__ = (
        "_aborted",
        "_builder",
        "_config",
        "_created_ms",
        "_end_position",
        "_files",
        "_first_timestamp",
        "_index_room",
        "_offset_max",
        "_path",
        "_roll_after_ms",
        "_segment",
        "_staged",
    )

    def __init__(
        self, segment: Segment, config: LogConfig, *, roll_jitter_ms: int, now_ms: int
    ) -> None:
        self._segment = segment
        self._files = segment.files
        self._path = segment.path(LOG_SUFFIX)  # made once: the file itself may be closed in between
        self._config = config
        self._roll_after_ms = config.max_segment_ms - roll_jitter_ms
        self._created_ms = now_ms
        self._end_position = segment.size_bytes  # with what is staged
        self._staged: list[Buffer] = []
        self._aborted: list[AbortedTransaction] = []
        self._builder = segment.continue_indexes(segment.size_bytes, config.index_interval_bytes)
        self._index_room = self._builder.room(config.segment_index_bytes)
        self._offset_max = segment.base_offset + RELATIVE_OFFSET_MAX
        self._first_timestamp = self._read_first_timestamp()
        segment.lent_indexes = self._builder.indexes

    def _read_first_timestamp(self) -> int:
        segment = self._segment
        for _, header in scan_headers(segment.file, 0, segment.size_bytes):
            return header.max_timestamp
        return -1

    def should_roll(self, header: BatchHeader, now_ms: int) -> bool:
        """Whether `header`'s batch belongs into a new segment."""
        is_far = header.base_offset + header.last_offset_delta > self._offset_max
        size = self._end_position
        if not size or is_far:
            return is_far
        if self._first_timestamp >= 0:
            waited_ms = header.max_timestamp - self._first_timestamp
        else:
            waited_ms = now_ms - self._created_ms
        return (
            size + header.batch_length + PREFIX_BYTES > self._config.segment_bytes
            or waited_ms > self._roll_after_ms
            or self._index_room <= 0
        )

    def stage(self, header: BatchHeader, batch: Buffer) -> None:
        position = self._end_position
        if not position:
            self._first_timestamp = header.max_timestamp
        if self._builder.add(header, position):
            self._index_room -= 1
            if self._index_room <= 0:
                self._index_room = self._builder.room(self._config.segment_index_bytes)
        self._staged.append(batch)
        self._end_position = position + header.batch_length + PREFIX_BYTES

    def stage_aborted(self, aborted: AbortedTransaction) -> None:
        self._aborted.append(aborted)

    def write(self) -> None:
        """Puts what is staged into the file, in one system call."""
        segment = self._segment
        self._files.get(self._path).write(self._staged, segment.size_bytes)
        self._staged.clear()
        segment.size_bytes = self._end_position
        segment.largest_timestamp = self._builder.largest_timestamp
        if self._aborted:
            self._write_aborted()
        self._builder.write_full_pages()

    def _write_aborted(self) -> None:
        for aborted in self._aborted:
            self._segment.append_aborted(aborted)
        self._aborted.clear()

    def write_indexes(self) -> None:
        self._builder.write()

    def close(self) -> None:
        """Completes the files."""
        self._builder.complete()
        self._segment.lent_indexes = None
