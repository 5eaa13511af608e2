"""A segment: batches in one file, and the indexes beside it.

A sealed segment keeps a few numbers in memory and no file: indexes are opened for the lookup and
read page by page. The active segment's indexes belong to its writer, which lends them.

Invariants: every batch's last offset is at least `base_offset`, and below the next segment's base;
`size_bytes` counts whole, written batches only.

Not here: appending (segment_writer.py), the order of segments (segments.py).
"""

from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import BatchHeader
from snakka.storage.cold import waiting
from snakka.storage.disk import File
from snakka.storage.index_builder import IndexBuilder, Indexes
from snakka.storage.indexes import OffsetIndex, OffsetPosition, TimeIndex, TimestampOffset
from snakka.storage.names import (
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SEGMENT_SUFFIXES,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    offset_file_name,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.scan import scan_headers
from snakka.storage.transaction_index import AbortedTransaction, TransactionIndex

_INDEX_INTERVAL_BYTES: Final = 4096  # of an index that is rebuilt on the spot


class BatchPosition(NamedTuple):
    position: int
    header: BatchHeader


class Segment:
    """Where records are, and how to find them."""

    __slots__ = (
        "_largest_timestamp",
        "_state",
        "base_offset",
        "directory",
        "files",
        "has_transaction_index",
        "lent_indexes",
        "size_bytes",
    )

    def __init__(
        self,
        files: OpenFiles,
        directory: str,
        base_offset: int,
        size_bytes: int = 0,
        *,
        has_transaction_index: bool = False,
        state: str = "",
    ) -> None:
        """`state` is a suffix of passage, of a segment that is not in its log."""
        self.files = files
        self.directory = directory
        self._largest_timestamp: TimestampOffset | None = None
        self._state = state
        self.base_offset = base_offset
        self.size_bytes = size_bytes
        self.has_transaction_index = has_transaction_index
        self.lent_indexes: Indexes | None = None

    def __repr__(self) -> str:
        return f"Segment({self.path(LOG_SUFFIX)}, {self.size_bytes} bytes)"

    def path(self, suffix: str) -> str:
        return f"{self.directory}/{offset_file_name(self.base_offset, suffix, self._state)}"

    @property
    def paths(self) -> list[str]:
        """The files that are there."""
        suffixes = SEGMENT_SUFFIXES if self.has_transaction_index else SEGMENT_SUFFIXES[:-1]
        return [self.path(suffix) for suffix in suffixes]

    @property
    def file(self) -> File:
        return self.files.get(self.path(LOG_SUFFIX))

    @property
    def offset_index(self) -> OffsetIndex:
        if self.lent_indexes is not None:
            return self.lent_indexes.offset
        return OffsetIndex(self.files, self.path(OFFSET_INDEX_SUFFIX), self.base_offset)

    @property
    def time_index(self) -> TimeIndex:
        if self.lent_indexes is not None:
            return self.lent_indexes.time
        return TimeIndex(self.files, self.path(TIME_INDEX_SUFFIX), self.base_offset)

    @property
    def largest_timestamp(self) -> TimestampOffset:
        """The largest timestamp of all records, and the last offset of the first batch with it."""
        if self._largest_timestamp is None:
            self._largest_timestamp = self.time_index.last_entry
        return self._largest_timestamp

    @largest_timestamp.setter
    def largest_timestamp(self, largest: TimestampOffset) -> None:
        self._largest_timestamp = largest

    def forget_largest_timestamp(self) -> None:
        self._largest_timestamp = None

    @property
    def modified_ms(self) -> int:
        return self.files.disk.status(self.path(LOG_SUFFIX)).modified_ms

    def find_batch(self, offset: int) -> BatchPosition | None:
        """The first batch that ends at `offset` or later; None if the segment ends before."""
        entry = self.offset_index.lookup(offset)
        if entry.position and not 0 < entry.position < self.size_bytes:
            if self.lent_indexes is not None:
                return None  # staged
            return self._find_without_index(offset)
        try:
            for position, header in scan_headers(self.file, entry.position, self.size_bytes):
                if position == entry.position > 0 and header.last_offset != entry.offset:
                    return self._find_without_index(offset)
                if header.last_offset >= offset:
                    return BatchPosition(position, header)
        except MalformedError:
            if not entry.position:
                raise
            return self._find_without_index(offset)
        return None

    def _find_without_index(self, offset: int) -> BatchPosition | None:
        """The index has sent us astray: it is rebuilt, unless it is being written."""
        if self.lent_indexes is None:
            with waiting():  # half an index would pass for a whole one
                self.rebuild_indexes(_INDEX_INTERVAL_BYTES)
        for position, header in scan_headers(self.file, 0, self.size_bytes):
            if header.last_offset >= offset:
                return BatchPosition(position, header)
        return None

    def find_indexed(self, entry: OffsetPosition) -> BatchPosition | None:
        """The batch that an entry of the offset index speaks of, if it speaks the truth."""
        if not 0 <= entry.position < self.size_bytes:
            return None
        try:
            for position, header in scan_headers(self.file, entry.position, self.size_bytes):
                is_it = header.last_offset == entry.offset
                return BatchPosition(position, header) if is_it else None
        except MalformedError:
            pass
        return None

    def find_timestamp(self, timestamp: int, start_offset: int) -> BatchPosition | None:
        """The first batch from `start_offset` on that holds a record at `timestamp` or later."""
        indexed = self.time_index.lookup(timestamp)
        found = self.find_batch(max(indexed.offset, start_offset))
        if found is None:
            return None
        for position, header in scan_headers(self.file, found.position, self.size_bytes):
            if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
                return BatchPosition(position, header)
        return None

    def find_next_offset(self) -> int:
        """The offset after the last batch, read from the file."""
        entry = self.offset_index.last_entry
        if entry.position and self.find_indexed(entry) is None:
            raise MalformedError("offset index", entry.position, "no such batch")
        next_offset = self.base_offset
        for _, header in scan_headers(self.file, entry.position, self.size_bytes):
            next_offset = header.next_offset
        return next_offset

    def continue_indexes(self, size_bytes: int, index_interval_bytes: int) -> IndexBuilder:
        """Goes on with the indexes where the first `size_bytes` are indexed."""
        indexes = Indexes(self.offset_index, self.time_index)
        return IndexBuilder(indexes, self.file, size_bytes, index_interval_bytes)

    def complete_indexes(self, index_interval_bytes: int) -> None:
        """Has the time index end in the largest timestamp, after its end was cut off."""
        self.continue_indexes(self.size_bytes, index_interval_bytes).complete()
        self._largest_timestamp = None

    def reset_indexes(self) -> None:
        for index in (self.offset_index, self.time_index):
            index.entries.truncate(0)
        self._largest_timestamp = None

    def rebuild_indexes(self, index_interval_bytes: int) -> None:
        """Writes both indexes anew from the batches' headers."""
        self.reset_indexes()
        builder = self.continue_indexes(0, index_interval_bytes)
        for position, header in scan_headers(self.file, 0, self.size_bytes):
            builder.add(header, position)
            builder.write_full_pages()
        builder.complete()

    def append_aborted(self, aborted: AbortedTransaction) -> None:
        self.transaction_index.append(aborted)
        self.has_transaction_index = True

    @property
    def transaction_index(self) -> TransactionIndex:
        return TransactionIndex(self.files, self.path(TRANSACTION_INDEX_SUFFIX))
