"""Decoded records as columns: plain buffers in Arrow's memory layout, which need no Arrow to hold.

Integers are in native byte order, and a validity bitmap starts with the least significant bit.
`bounds` is what Arrow calls offsets, a word that is Kafka's here: element i lies in `data` from
`bounds[i]` to `bounds[i + 1]`.

Not here: filling them (columns.py), handing them to Arrow (arrow.py).
"""

from typing import Final, NamedTuple

from snakka.protocol.types import Buffer

COLUMN_BYTES_MAX: Final = (1 << 31) - 1  # a bound is an int32


class BinaryColumn(NamedTuple):
    """Nullable byte strings. Without nulls there is no bitmap: `validity` is empty."""

    validity: Buffer
    bounds: Buffer
    data: Buffer
    null_count: int


class Columns(NamedTuple):
    """The records of many batches, one row each; headers are a list of pairs per row."""

    row_count: int
    offsets: Buffer
    timestamps: Buffer
    keys: BinaryColumn
    values: BinaryColumn
    header_bounds: Buffer
    header_keys: BinaryColumn
    header_values: BinaryColumn
    next_offset: int
    """The offset to go on from: past control batches and those that were not wanted, too."""


class KeySpan(NamedTuple):
    """What compaction asks of a record: whether to keep it, and which bytes to keep."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    is_tombstone: bool
    start: int
    end: int
    """`section[start:end]` is the whole record, and can be copied to a batch of the same bases."""
