"""Many records at once: batches decoded to columns in Arrow's layout, and the scan of compaction.

The walk over the records is compiled (_columns.pyx); where the extension is not built, its
pure-Python twin does the same, some forty times slower. Rows of many batches share one set of
columns, since a set per 16 KB batch would cost most of the speed.

Not here: single records (record.py), checksums (Batch.verify_crc), Arrow objects (arrow.py), and
which batches a reader may see: `is_wanted` is asked of every batch, so that a read_committed reader
can follow the markers and pass over aborted transactions.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from snakka.protocol.records.batch import Batch
from snakka.protocol.records.column_buffers import COLUMN_BYTES_MAX, Columns
from snakka.protocol.records.compression import DEFAULT_LIMIT_BYTES

try:
    from snakka.protocol.records._columns import ColumnsBuilder, scan_keys

    IS_COMPILED = True
except ImportError:
    from snakka.protocol.records._columns_python import ColumnsBuilder, scan_keys

    IS_COMPILED = False

__all__ = ["IS_COMPILED", "ColumnsBuilder", "decode_columns", "scan_keys"]

DEFAULT_COLUMNS_BYTES: Final = 16 * 1024 * 1024
END_OF_LOG: Final = (1 << 63) - 1


def decode_columns(
    batches: Iterable[Batch],
    *,
    start_offset: int = 0,
    end_offset: int = END_OF_LOG,
    is_wanted: Callable[[Batch], bool] = lambda _: True,
    columns_bytes: int = DEFAULT_COLUMNS_BYTES,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
    builder: ColumnsBuilder | None = None,
) -> Iterator[Columns]:
    """The records from `start_offset` on and before `end_offset`, without control records.

    Columns are handed out when the next batch would bring them over `columns_bytes` of records
    (a larger batch comes alone), and at the end, so that `next_offset` covers every batch.
    """
    if not 0 < columns_bytes <= COLUMN_BYTES_MAX:
        raise ValueError(f"columns_bytes {columns_bytes} is not within 1..{COLUMN_BYTES_MAX}")
    builder = builder or ColumnsBuilder()
    next_offset = start_offset
    is_pending = False
    for batch in batches:
        header = batch.header
        is_in_range = header.last_offset >= start_offset and header.base_offset < end_offset
        if is_wanted(batch) and not header.is_control and is_in_range:
            section = batch.section(limit_bytes)
            if builder.size_bytes and builder.size_bytes + len(section) > columns_bytes:
                yield builder.finish(next_offset)
            builder.append(header, section, start_offset, end_offset)
        next_offset = min(max(next_offset, header.next_offset), end_offset)
        is_pending = True
    if is_pending:
        yield builder.finish(next_offset)
