"""Whether a segment is what its broker wrote: every batch, and what the indexes say of them.

A batch is checked by its checksum and the order of offsets. An entry of the offset index has to
lead to a batch that is not past the offset it names; up to the offset of an entry of the time index
no record may be later than it says. Both are followed side by side with the batches, so memory is
bounded by the window of the sweep.

Offsets that no batch has are counted and no problem: compaction leaves such.

Not here: between segments (jobs.py).
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import HEADER_BYTES, NO_TIMESTAMP, BatchHeader
from snakka.protocol.records.columns import END_OF_LOG
from snakka.storage.disk import Disk, File
from snakka.storage.errors import CorruptFileError
from snakka.storage.names import (
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.scan import has_intact_batch, sweep
from snakka.storage.transaction_index import TransactionIndex

_OFFSET_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")
_ENTRIES_PER_READ: Final = 4096
_PROBLEMS_MAX: Final = 10  # of one index: the rest says the same


class Problem(NamedTuple):
    """What is wrong, and where."""

    path: str
    position: int
    reason: str


class SegmentReport(NamedTuple):
    batch_count: int
    record_count: int
    missing_offset_count: int
    next_offset: int
    problems: tuple[Problem, ...]


def check_segment(disk: Disk, stem: str, base_offset: int, *, is_last: bool) -> SegmentReport:
    """Reads all of a segment. The last one may end in a batch that is being written."""
    path = stem + LOG_SUFFIX
    file = disk.open(path)
    size_bytes = file.size()
    followers = (
        _OffsetIndex(disk, stem + OFFSET_INDEX_SUFFIX, base_offset),
        _TimeIndex(disk, stem + TIME_INDEX_SUFFIX, base_offset),
    )
    batch_count = record_count = missing = position = 0
    next_offset = base_offset
    problems: list[Problem] = []
    try:
        for position, (header, _) in sweep(file, 0, size_bytes, base_offset, has_gaps=True):
            batch_count += 1
            record_count += header.record_count
            missing += header.base_offset - next_offset
            next_offset = header.next_offset
            for follower in followers:
                follower.pass_batch(position, header)
            position += header.size_bytes
    except MalformedError as error:
        is_followed = has_intact_batch(file, position, size_bytes, next_offset)
        if is_followed or not (is_last and is_torn(file, position, size_bytes)):
            what = "intact batches follow" if is_followed else "nothing intact follows"
            problems.append(Problem(path, position, f"{error.reason}; {what}"))
    else:
        for follower in followers:
            follower.finish()
    for follower in followers:
        problems += follower.problems[:_PROBLEMS_MAX]
    problems += _transaction_index_problems(disk, stem + TRANSACTION_INDEX_SUFFIX)
    return SegmentReport(batch_count, record_count, missing, next_offset, tuple(problems))


def is_torn(file: File, position: int, size_bytes: int) -> bool:
    """Whether the file ends before the batch does that begins at a position."""
    head = file.read(position, HEADER_BYTES)
    if len(head) < HEADER_BYTES:
        return True
    try:
        return position + BatchHeader.read(head).size_bytes > size_bytes
    except MalformedError:
        return False


class _Follower(ABC):
    """Entries of an index, one after the other; `position` is that of the entry in the file."""

    layout: struct.Struct

    def __init__(self, disk: Disk, path: str, base_offset: int) -> None:
        self._path = path
        self._base_offset = base_offset
        self.problems: list[Problem] = []
        self._entries = self._read(disk)
        self._entry = next(self._entries, None)

    @abstractmethod
    def pass_batch(self, position: int, header: BatchHeader) -> None: ...

    @abstractmethod
    def finish(self) -> None:
        """All batches have passed."""

    def _complain(self, position: int, reason: str) -> None:
        self.problems.append(Problem(self._path, position, reason))

    def _read(self, disk: Disk) -> Iterator[tuple[int, int, int]]:
        """Position, first and second number; zeros are room that Kafka took and has not used."""
        try:
            file = disk.open(self._path)
        except FileNotFoundError:
            self._complain(0, "missing")
            return
        size = self.layout.size
        position = 0
        while data := file.read(position, _ENTRIES_PER_READ * size):
            if len(data) % size:
                self._complain(position + len(data) // size * size, "a torn entry")
            for first, second in self.layout.iter_unpack(data[: len(data) // size * size]):
                if first or second:
                    yield position, first, second
                position += size
            if len(data) % size:
                return


class _OffsetIndex(_Follower):
    layout = _OFFSET_ENTRY

    def pass_batch(self, position: int, header: BatchHeader) -> None:
        while self._entry is not None and self._entry[2] <= position:
            at, relative_offset, target = self._entry
            offset = self._base_offset + relative_offset
            if target < position:
                self._complain(at, f"offset {offset} is at {target}, where no batch begins")
            elif offset < header.base_offset:
                begins = f"the batch there begins at {header.base_offset}"
                self._complain(at, f"offset {offset} is at {target}, but {begins}")
            self._entry = next(self._entries, None)

    def finish(self) -> None:
        if self._entry is not None:
            at, _, target = self._entry
            self._complain(at, f"leads to {target}, where no batch begins")


class _TimeIndex(_Follower):
    layout = _TIME_ENTRY
    _max_timestamp = NO_TIMESTAMP

    def pass_batch(self, position: int, header: BatchHeader) -> None:
        self._compare_before(header.last_offset)
        self._max_timestamp = max(self._max_timestamp, header.max_timestamp)

    def finish(self) -> None:
        self._compare_before(END_OF_LOG)

    def _compare_before(self, last_offset: int) -> None:
        """The entries that are about nothing but the batches so far."""
        while self._entry is not None and self._base_offset + self._entry[2] < last_offset:
            at, timestamp, relative_offset = self._entry
            if timestamp < self._max_timestamp:
                says = f"nothing up to offset {self._base_offset + relative_offset} is later"
                self._complain(at, f"{says} than {timestamp}, it says: {self._max_timestamp} is")
            self._entry = next(self._entries, None)


def _transaction_index_problems(disk: Disk, path: str) -> Iterator[Problem]:
    try:
        for _ in TransactionIndex(OpenFiles(disk), path).entries():
            pass
    except CorruptFileError as error:
        yield Problem(path, 0, error.reason)
