"""Walking the batches of a segment file by their headers, in bounded memory.

Not here: what is done about damage. A `MalformedError` names the position in the file.
"""

from collections.abc import Iterator
from typing import Final

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import (
    HEADER_BYTES,
    MAGIC,
    MAGIC_POSITION,
    Batch,
    BatchHeader,
    CorruptBatchError,
)
from snakka.protocol.records.control import EndTxnMarker
from snakka.protocol.records.crc import crc32c
from snakka.storage.disk import File

HEADER_WINDOW_BYTES: Final = 4096  # many small batches, and little of a large one
SWEEP_WINDOW_BYTES: Final = 1024 * 1024

_CRC_START: Final = 21  # the first byte that a batch's CRC covers


def scan_headers(file: File, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """The positions and headers of the batches in `[position, end)`, which must be whole."""
    window = b""
    window_start = position
    while position < end:
        at = position - window_start
        if at + HEADER_BYTES > len(window):
            window = file.read(position, min(HEADER_WINDOW_BYTES, end - position))
            window_start, at = position, 0
        header = _read_header(window, at, position)
        if header.size_bytes > end - position:
            raise MalformedError("record batch", position, f"{header.size_bytes} bytes, torn")
        yield position, header
        position += header.size_bytes


def sweep(
    file: File, position: int, end: int, next_offset: int, *, has_gaps: bool
) -> Iterator[tuple[int, Batch]]:
    """The positions and batches in `[position, end)`, CRCs and offsets checked.

    Base offsets are outside of the CRC, but only compaction leaves gaps between them. A batch that
    does not fit the window comes without its data: it is checked piece by piece.
    """
    window = b""
    window_start = position
    while position < end:
        at = position - window_start
        header = _read_header(window, at, position) if at + HEADER_BYTES <= len(window) else None
        if header is None or at + header.size_bytes > len(window):
            window = file.read(position, min(SWEEP_WINDOW_BYTES, end - position))
            window_start, at = position, 0
            header = _read_header(window, at, position)
        size = header.size_bytes
        if size > end - position:
            raise MalformedError("record batch", position, f"{size} bytes, torn")
        gap = header.base_offset - next_offset
        if gap < 0 or (gap and not has_gaps):
            raise MalformedError(
                "record batch", position, f"offset {header.base_offset} instead of {next_offset}"
            )
        data = memoryview(window)[at : at + size] if size <= len(window) else memoryview(b"")
        _verify_crc(file, position, header, data)
        yield position, Batch(header, data)
        next_offset = header.next_offset
        position += size


def _verify_crc(file: File, position: int, header: BatchHeader, data: memoryview) -> None:
    crc = crc32c(data[_CRC_START:]) if data else _crc_in_file(file, position, header)
    if crc != header.crc:
        raise CorruptBatchError(
            "record batch", position, f"CRC32C {crc:#010x} is not the recorded {header.crc:#010x}"
        )


def _crc_in_file(file: File, position: int, header: BatchHeader) -> int:
    crc = 0
    at, end = position + _CRC_START, position + header.size_bytes
    while at < end:
        piece = file.read(at, min(SWEEP_WINDOW_BYTES, end - at))
        if not piece:
            raise MalformedError("record batch", position, "torn")
        crc = crc32c(piece, crc)
        at += len(piece)
    return crc


def has_intact_batch(file: File, position: int, end: int, next_offset: int) -> bool:
    """Whether some batch from `next_offset` on begins at any byte of `[position, end)`."""
    while position < end:
        window = file.read(position, min(SWEEP_WINDOW_BYTES + HEADER_BYTES, end - position))
        magic_at = window.find(MAGIC, MAGIC_POSITION)
        while 0 <= magic_at < SWEEP_WINDOW_BYTES + MAGIC_POSITION:
            at = magic_at - MAGIC_POSITION
            if _is_intact(file, window, at, position + at, end, next_offset):
                return True
            magic_at = window.find(MAGIC, magic_at + 1)
        position += SWEEP_WINDOW_BYTES
    return False


def _is_intact(
    file: File, window: bytes, at: int, position: int, end: int, next_offset: int
) -> bool:
    try:
        header = BatchHeader.read(window, at)
    except MalformedError:
        return False
    is_plausible = header.size_bytes <= end - position and header.base_offset >= next_offset
    return is_plausible and _crc_in_file(file, position, header) == header.crc


def read_batch(file: File, position: int, header: BatchHeader) -> Batch:
    return Batch(header, memoryview(file.read(position, header.size_bytes)))


def find_marker(batch: Batch) -> EndTxnMarker | None:
    """What a control batch says of its producer's transaction.

    None if it is no end of a transaction, or an end that compaction has emptied.
    """
    header = batch.header
    if not header.is_control or not header.is_transactional or not header.record_count:
        return None
    return EndTxnMarker.read(next(iter(batch.records())))


def _read_header(window: bytes, at: int, position: int) -> BatchHeader:
    try:
        return BatchHeader.read(window, at)
    except MalformedError as error:
        raise MalformedError("record batch", position, error.reason) from None
