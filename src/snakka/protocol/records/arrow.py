"""Columns as Arrow record batches: the buffers are taken over, nothing is copied.

A header's key is a string: Kafka defines it so, the decoder has checked that it is UTF-8, and in
Spark's own Kafka source it is one. No headers are an empty list. Nothing else of the protocol needs
pyarrow (the extra `spark`).

Not here: decoding (columns.py), and the schema of a Spark source, which is its own matter.
"""

from typing import Final

import pyarrow as pa

from snakka.protocol.records.column_buffers import BinaryColumn, Columns
from snakka.protocol.types import Buffer

_HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])

# "element" is what Spark and Parquet call the items of a list.
SCHEMA: Final = pa.schema(
    [
        pa.field("offset", pa.int64()),
        pa.field("timestamp", pa.int64()),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(pa.field("element", _HEADER))),
    ]
)


def to_record_batch(columns: Columns) -> pa.RecordBatch:
    """The columns under `SCHEMA`; timestamps are milliseconds."""
    rows = columns.row_count
    return pa.RecordBatch.from_arrays(
        [
            pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(columns.offsets)]),
            pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(columns.timestamps)]),
            _binary_array(pa.binary(), rows, columns.keys),
            _binary_array(pa.binary(), rows, columns.values),
            _headers_array(columns),
        ],
        schema=SCHEMA,
    )


def _headers_array(columns: Columns) -> pa.Array:
    count = _element_count(columns.header_keys.bounds)
    keys = _binary_array(pa.string(), count, columns.header_keys)
    values = _binary_array(pa.binary(), count, columns.header_values)
    pairs = pa.Array.from_buffers(_HEADER, count, [None], children=[keys, values])
    bounds = pa.py_buffer(columns.header_bounds)
    return pa.Array.from_buffers(
        SCHEMA.field("headers").type, columns.row_count, [None, bounds], children=[pairs]
    )


def _binary_array(kind: pa.DataType, count: int, column: BinaryColumn) -> pa.Array:
    validity = pa.py_buffer(column.validity) if column.null_count else None
    buffers = [validity, pa.py_buffer(column.bounds), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(kind, count, buffers, null_count=column.null_count)


def _element_count(bounds: Buffer) -> int:
    return memoryview(bounds).nbytes // 4 - 1
