"""The rows of the source: its schema, and decoded columns as Arrow batches under just that schema.

Spark takes the buffers over as they are, so types have to match to the letter, and a column that
has one value for all rows is repeated, not encoded.

Not here: decoding (protocol/records/columns.py).
"""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from snakka.client.records import TopicPartition
from snakka.protocol.records.arrow import to_record_batch
from snakka.protocol.records.batch import TimestampType
from snakka.protocol.records.column_buffers import Columns

# The columns of Spark's own Kafka source, with its types.
BASIC_DDL: Final = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT,"
    " timestamp TIMESTAMP, timestampType INT"
)
HEADERS_DDL: Final = "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"

_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
_HEADERS: Final = pa.field(
    "headers",
    pa.list_(
        pa.field(
            "element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
        )
    ),
)
_BASIC: Final = (
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", _TIMESTAMP),
    pa.field("timestampType", pa.int32()),
)
# What int64 microseconds can hold; beyond it a timestamp is as far away as that.
_MILLISECONDS_MAX: Final = ((1 << 63) - 1) // 1000


def ddl(*, include_headers: bool) -> str:
    return f"{BASIC_DDL}, {HEADERS_DDL}" if include_headers else BASIC_DDL


def arrow_schema(*, include_headers: bool) -> pa.Schema:
    return pa.schema([*_BASIC, _HEADERS] if include_headers else _BASIC)


class RowMaker:
    """Makes the batches of one partition."""

    def __init__(self, where: TopicPartition, *, include_headers: bool) -> None:
        self._where = where
        self._schema = arrow_schema(include_headers=include_headers)
        self._include_headers = include_headers
        self._repeated: dict[TimestampType, list[pa.Array]] = {}

    def rows(self, columns: Columns, timestamp_type: TimestampType) -> pa.RecordBatch:
        """The columns under the schema; all of their records have one timestamp type."""
        decoded = to_record_batch(columns)
        topic, partition, kind = self._constants(decoded.num_rows, timestamp_type)
        arrays = [
            *(decoded.column("key"), decoded.column("value"), topic, partition),
            *(decoded.column("offset"), _microseconds(decoded.column("timestamp")), kind),
        ]
        if self._include_headers:
            arrays.append(decoded.column("headers"))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _constants(self, rows: int, timestamp_type: TimestampType) -> list[pa.Array]:
        """Columns of one value, made once for the longest batch so far and cut for the others."""
        known = self._repeated.get(timestamp_type)
        if known is None or len(known[0]) < rows:
            known = [
                pa.repeat(pa.scalar(self._where.topic, pa.string()), rows),
                pa.repeat(pa.scalar(self._where.partition, pa.int32()), rows),
                pa.repeat(pa.scalar(int(timestamp_type), pa.int32()), rows),
            ]
            self._repeated[timestamp_type] = known
        return [each.slice(0, rows) for each in known]


def _microseconds(milliseconds: Any) -> Any:
    try:
        scaled = pc.multiply_checked(milliseconds, 1000)
    except pa.ArrowInvalid:
        bounded = pc.min_element_wise(
            pc.max_element_wise(milliseconds, -_MILLISECONDS_MAX), _MILLISECONDS_MAX
        )
        scaled = pc.multiply(bounded, 1000)
    return scaled.cast(_TIMESTAMP)
