"""Rows in Arrow to records: which columns there are to be, and what is in them.

The columns are those of Spark's own Kafka sink: `value`, and if wanted `key`, `topic`, `partition`
and `headers`, and where it is asked for `timestamp`; others are passed over. Text becomes UTF-8.

Not here: record batches (encoding.py).
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
)

from snakka.pipeline.errors import SchemaError
from snakka.protocol.records.record import Header

_BYTES: Final = (BinaryType, StringType)
_COLUMNS: Final[dict[str, tuple[type[DataType], ...]]] = {
    "key": _BYTES,
    "value": _BYTES,
    "topic": (StringType,),
    "partition": (IntegerType,),
    "headers": (ArrayType,),
    "timestamp": (TimestampType,),
}
_ARROW: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


class Row(NamedTuple):
    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    timestamp_ms: int | None = None  # when it is written


def _one_row(row: Any) -> pa.RecordBatch:
    """A single row of Spark's as a batch."""
    columns = {name: row[name] for name in _ARROW if name in row}
    schema = pa.schema([(name, _ARROW[name]) for name in columns])
    return pa.RecordBatch.from_pylist([_plain(columns)], schema=schema)


def _plain(columns: dict[str, Any]) -> dict[str, Any]:
    headers = columns.get("headers")
    if headers is not None:
        columns["headers"] = [each.asDict() for each in headers]
    return columns


def check_schema(
    schema: StructType, topic: str | None, *, include_timestamps: bool = False
) -> None:
    """Raises SchemaError, naming the column, where rows of this schema cannot be records."""
    present = {each.name: each.dataType for each in schema.fields}
    if "value" not in present:
        raise SchemaError("column value: is missing")
    if topic is None and "topic" not in present:
        raise SchemaError("column topic: is missing, and so is the option topic")
    if include_timestamps and "timestamp" not in present:
        raise SchemaError("column timestamp: is missing, and includeTimestamps asks for it")
    for name, kinds in _COLUMNS.items():
        kind = present.get(name)
        if name == "timestamp" and not include_timestamps:
            continue
        if kind is not None and not (isinstance(kind, kinds) and _are_headers(name, kind)):
            wanted = " or ".join(each.typeName() for each in kinds)
            if name == "headers":
                wanted = "array<struct<key:string,value:binary>>"
            raise SchemaError(f"column {name}: is {kind.simpleString()}, not {wanted}")


def _are_headers(name: str, kind: DataType) -> bool:
    if name != "headers":
        return True
    assert isinstance(kind, ArrayType)
    return isinstance(kind.elementType, StructType) and [
        (each.name, each.dataType) for each in kind.elementType.fields
    ] == [("key", StringType()), ("value", BinaryType())]


def rows(batch: Any, topic: str | None, *, include_timestamps: bool = False) -> Iterator[Row]:
    """The rows of a batch, or what is given for one; the topic of the options comes first."""
    if not isinstance(batch, pa.RecordBatch):
        batch = _one_row(batch)
    count = batch.num_rows
    nothing: list[Any] = [None] * count
    columns = {name: batch.column(name) for name in _COLUMNS if name in batch.schema.names}
    keys = columns["key"].cast(pa.binary()).to_pylist() if "key" in columns else nothing
    values = columns["value"].cast(pa.binary()).to_pylist()
    partitions = columns["partition"].to_pylist() if "partition" in columns else nothing
    headers = columns["headers"].to_pylist() if "headers" in columns else nothing
    topics = [topic] * count if topic is not None else columns["topic"].to_pylist()
    timestamps = _milliseconds(columns["timestamp"]) if include_timestamps else nothing
    for each, partition, key, value, listed, timestamp_ms in zip(
        topics, partitions, keys, values, headers, timestamps, strict=True
    ):
        if each is None:
            raise SchemaError("column topic: is null, and there is no option topic")
        pairs = tuple((pair["key"], pair["value"]) for pair in listed) if listed else ()
        yield Row(each, partition, key, value, pairs, timestamp_ms)


def _milliseconds(timestamps: Any) -> list[Any]:
    whole: list[Any] = (
        pc.cast(timestamps, pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64()).to_pylist()
    )
    return whole
