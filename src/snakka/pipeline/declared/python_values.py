"""Values that Spark has no built-in function for: decoded by Python in the tasks, over Arrow.

A decoder is made once per task, and takes the bytes of one value. Whatever it raises is the reason
why the value is rejected: what these bytes are is for nobody to say, so any exception may come of
them.

Not here: the formats (avro_values.py, protobuf_values.py).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

REASON_CHARACTERS_MAX: Final = 200
_ARROW: Final[dict[type[DataType], Any]] = {
    BinaryType: pa.binary(),
    BooleanType: pa.bool_(),
    DateType: pa.date32(),
    DoubleType: pa.float64(),
    FloatType: pa.float32(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    StringType: pa.string(),
    TimestampType: pa.timestamp("us", tz="UTC"),
}

Decode = Callable[[bytes], Any]


class Format(Protocol):
    """Knows a schema, and travels to the tasks."""

    @property
    def schema(self) -> StructType: ...

    def make(self) -> Decode:
        """A decoder of single values, whose maps are lists of pairs."""


def result_type(schema: DataType) -> StructType:
    """What a decoded value is: the value, or the reason why there is none."""
    return StructType([StructField("value", schema), StructField("reason", StringType())])


def decode_in_python(rows: DataFrame, column: str, into: str, form: Format) -> DataFrame:
    """The rows with one more column."""
    added = StructField(into, result_type(form.schema), False)
    return rows.mapInArrow(_Batches(column, into, form), StructType([*rows.schema.fields, added]))


@dataclass(frozen=True, slots=True)
class _Batches:
    column: str
    into: str
    form: Format

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        decode = self.form.make()
        value_type = arrow_type(self.form.schema)
        for batch in batches:
            values, reasons = _decoded(batch.column(self.column).to_pylist(), decode)
            result = pa.StructArray.from_arrays(
                [_array(values, reasons, value_type), pa.array(reasons, pa.string())],
                ["value", "reason"],
            )
            schema = batch.schema.append(pa.field(self.into, result.type, nullable=False))
            yield pa.RecordBatch.from_arrays([*batch.columns, result], schema=schema)


def _decoded(data: list[bytes | None], decode: Decode) -> tuple[list[Any], list[str | None]]:
    values: list[Any] = []
    reasons: list[str | None] = []
    for each in data:
        value, reason = None, None
        if each is None:
            reason = "there is no value"
        else:
            try:
                value = decode(each)
            except Exception as error:
                reason = _reason(error)
        values.append(value)
        reasons.append(reason)
    return values, reasons


def _array(values: list[Any], reasons: list[str | None], kind: Any) -> Any:
    """The values as Arrow; one that does not fit its type (a date beyond all dates) is rejected."""
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        for index, value in enumerate(values):
            try:
                pa.array([value], kind)
            except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
                values[index], reasons[index] = None, _reason(error)
        return pa.array(values, kind)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")[:REASON_CHARACTERS_MAX]


def arrow_type(kind: DataType) -> Any:
    """Arrow's name for a type of Spark's."""
    match kind:
        case StructType():
            return pa.struct([pa.field(each.name, arrow_type(each.dataType)) for each in kind])
        case ArrayType():
            return pa.list_(arrow_type(kind.elementType))
        case MapType():
            return pa.map_(arrow_type(kind.keyType), arrow_type(kind.valueType))
        case DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case _:
            return _ARROW[type(kind)]
