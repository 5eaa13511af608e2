"""What a Spark task does to read its slices: batches to rows in Arrow.

Arrow batches are bounded by bytes, since Spark's JVM takes each whole, and hold the records of many
record batches, since a small one costs as much to hand over as a large one.

Not here: getting the batches (fetching.py), the columns (columns.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

import pyarrow as pa

from snakka.pipeline.cluster_thread import ClusterThread
from snakka.pipeline.columns import RowMaker
from snakka.pipeline.fetching import BatchInRange, ReadRules, read_batches
from snakka.pipeline.offsets import OffsetRange
from snakka.pipeline.planning import Slice
from snakka.protocol.records.batch import TimestampType
from snakka.protocol.records.columns import decode_columns

ROWS_BYTES: Final = 8 << 20


def read_slices(
    thread: ClusterThread, slices: Sequence[Slice], rules: ReadRules, *, include_headers: bool
) -> Iterator[pa.RecordBatch]:
    """The rows of slices, each in the order of their offsets."""
    # All are asked for at once: where there are many they are small.
    reads = [read_batches(thread, each.range, each.size_bytes, rules) for each in slices]
    for each, read in zip(slices, reads, strict=True):
        yield from _read_slice(each.range, read, include_headers=include_headers)


def _read_slice(
    wanted: OffsetRange, read: Iterable[BatchInRange], *, include_headers: bool
) -> Iterator[pa.RecordBatch]:
    maker = RowMaker(wanted.where, include_headers=include_headers)
    visible = (each for each in read if each.is_visible)
    for (start_offset, timestamp_type), batches in groupby(visible, _kind):
        for columns in decode_columns(
            (each.batch for each in batches),
            start_offset=start_offset,
            end_offset=wanted.end,
            columns_bytes=ROWS_BYTES,
        ):
            if columns.row_count:
                yield maker.rows(columns, timestamp_type)


def _kind(each: BatchInRange) -> tuple[int, TimestampType]:
    """What all rows of one Arrow batch have in common."""
    return each.start_offset, each.batch.header.timestamp_type
