"""Keeping a segment's two indexes as batches are added to it, on append and on recovery alike."""

from typing import NamedTuple

from snakka.protocol.records.batch import BatchHeader
from snakka.storage.disk import File
from snakka.storage.indexes import OffsetIndex, TimeIndex, TimestampOffset
from snakka.storage.scan import scan_headers


class Indexes(NamedTuple):
    """The two indexes that follow every append."""

    offset: OffsetIndex
    time: TimeIndex


class IndexBuilder:
    """Continues the indexes of a segment of which the first `size_bytes` are there."""

    __slots__ = (
        "_index_interval_bytes",
        "_indexed_position",
        "_largest_offset",
        "_largest_timestamp",
        "indexes",
    )

    def __init__(
        self, indexes: Indexes, file: File, size_bytes: int, index_interval_bytes: int
    ) -> None:
        self.indexes = indexes
        self._index_interval_bytes = index_interval_bytes
        self._indexed_position = self.indexes.offset.last_entry.position
        self._largest_timestamp, self._largest_offset = self.indexes.time.last_entry
        for _, header in scan_headers(file, self._indexed_position, size_bytes):
            self._take_timestamp(header)

    @property
    def largest_timestamp(self) -> TimestampOffset:
        return TimestampOffset(self._largest_timestamp, self._largest_offset)

    def add(self, header: BatchHeader, position: int) -> bool:
        """Takes in the batch at `position`; True if that made an entry."""
        if header.max_timestamp > self._largest_timestamp:
            self._take_timestamp(header)
        if position - self._indexed_position <= self._index_interval_bytes:
            return False
        offset_index, time_index = self.indexes
        offset_index.append(header.base_offset + header.last_offset_delta, position)
        time_index.maybe_append(self._largest_timestamp, self._largest_offset)
        self._indexed_position = position
        return True

    def room(self, segment_index_bytes: int) -> int:
        """How many more entries fit into both indexes in any case."""
        return min(index.room(segment_index_bytes) for index in self.indexes)

    def write_full_pages(self) -> None:
        if self.indexes.offset.entries.has_full_page:  # the other one grows no faster
            self.write()

    def write(self) -> None:
        self.indexes.offset.entries.write()
        self.indexes.time.entries.write()

    def complete(self) -> None:
        """The last entry of a finished time index is the segment's largest timestamp."""
        self.indexes.time.maybe_append(self._largest_timestamp, self._largest_offset)
        self.write()

    def _take_timestamp(self, header: BatchHeader) -> None:
        if header.max_timestamp > self._largest_timestamp:
            self._largest_timestamp = header.max_timestamp
            self._largest_offset = header.last_offset
