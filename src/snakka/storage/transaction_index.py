"""The transaction index of a segment: the aborted transactions whose marker lies in it (KIP-98).

Entries follow their markers' offsets. The file exists only where a transaction was aborted.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from snakka.storage.errors import CorruptFileError
from snakka.storage.open_files import OpenFiles
from snakka.storage.producer_state import CompletedTransaction

_ENTRY: Final = struct.Struct(">hqqqq")
_VERSION: Final = 0
_ENTRIES_PER_READ: Final = 1024


class AbortedTransaction(NamedTuple):
    """`last_stable_offset` is the log's own, as the marker at `last_offset` left it."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    @classmethod
    def of(cls, completed: CompletedTransaction) -> "AbortedTransaction":
        return cls(
            completed.producer_id,
            completed.first_offset,
            completed.last_offset,
            completed.last_stable_offset,
        )


class TransactionIndex:
    """Reads and writes one `.txnindex` file; keeps nothing in memory."""

    __slots__ = ("_files", "_path")

    def __init__(self, files: OpenFiles, path: str) -> None:
        self._files = files
        self._path = path

    def append(self, aborted: AbortedTransaction) -> None:
        file = self._files.get(self._path, create=True)
        file.write([_ENTRY.pack(_VERSION, *aborted)], file.size())

    def entries(self) -> Iterator[AbortedTransaction]:
        try:
            file = self._files.get(self._path)
        except FileNotFoundError:
            return
        position = 0
        while data := file.read(position, _ENTRIES_PER_READ * _ENTRY.size):
            if len(data) % _ENTRY.size:
                raise CorruptFileError(self._path, "its last entry is torn")
            for version, *fields in _ENTRY.iter_unpack(data):
                if version != _VERSION:
                    raise CorruptFileError(self._path, f"an entry of version {version}")
                yield AbortedTransaction._make(fields)
            position += len(data)

    def truncate_to(self, offset: int) -> None:
        """Drops the transactions whose marker is at `offset` or later, and a torn entry."""
        self._cut_torn_entry()
        for slot, aborted in enumerate(self.entries()):
            if aborted.last_offset >= offset:
                self._files.get(self._path).truncate(slot * _ENTRY.size)
                return

    def clear(self) -> None:
        self._files.get(self._path, create=True).truncate(0)

    def _cut_torn_entry(self) -> None:
        try:
            file = self._files.get(self._path)
        except FileNotFoundError:
            return
        size = file.size()
        if size % _ENTRY.size:
            file.truncate(size - size % _ENTRY.size)
