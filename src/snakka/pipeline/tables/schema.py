"""How the schema of a table grows with the rows that come to it. Pure.

A column that is new, also within a struct, is added; every column may be null, so that older rows
need no change. Rows of a narrower type than the table's are widened. Rows of a wider type widen the
table where its format can do that (`widens`); any other difference raises SchemaError, which names
the field. Columns that the rows do not have stay, and are null in them.

Not here: how a format stores a schema (delta.py, iceberg.py, parquet.py).
"""

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from snakka.pipeline.errors import OptionError, SchemaError
from snakka.pipeline.tables.table import TableOptions

_INTEGERS: Final = (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType())
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
# What a table can widen a column to: Iceberg's rules, and what Spark reads from older files.
_WIDER: Final = {"int": ("bigint",), "float": ("double",)}
_PARTITION_TYPES: Final = (*_INTEGERS, T.StringType(), T.BooleanType(), T.DateType())
_ARROW: Final[dict[T.DataType, pa.DataType]] = {
    T.StringType(): pa.string(),
    T.BinaryType(): pa.binary(),
    T.BooleanType(): pa.bool_(),
    T.ByteType(): pa.int8(),
    T.ShortType(): pa.int16(),
    T.IntegerType(): pa.int32(),
    T.LongType(): pa.int64(),
    T.FloatType(): pa.float32(),
    T.DoubleType(): pa.float64(),
    T.DateType(): pa.date32(),
    T.TimestampType(): pa.timestamp("us", tz="UTC"),
    T.TimestampNTZType(): pa.timestamp("us"),
}


def evolve(table: T.StructType, rows: T.StructType, *, widens: bool) -> T.StructType:
    """The schema that holds both what is in the table, which may be nothing, and the rows."""
    return T.StructType(_merge_fields(table.fields, rows.fields, "", widens))


def relax(table: T.StructType) -> T.StructType:
    """The schema of a table as it is stored, which somebody else may have made."""
    for each in table:
        if not each.nullable:
            raise SchemaError(f"column {each.name}: must not be null, which is not checked here")
    return evolve(T.StructType([]), table, widens=False)


def check_partitioning(schema: T.StructType, partition_by: Sequence[str]) -> None:
    """Whether these columns can say which partition of the table a row belongs to."""
    columns = {each.name: each.dataType for each in schema.fields}
    for name in partition_by:
        if name not in columns:
            raise SchemaError(f"column {name}: the table is partitioned by it, but it is missing")
        if columns[name] not in _PARTITION_TYPES:
            raise SchemaError(
                f"column {name}: a table cannot be partitioned by {columns[name].simpleString()},"
                " only by string, boolean, date and whole numbers"
            )
    if len(set(partition_by)) == len(columns):
        raise SchemaError("a table needs a column that it is not partitioned by")


def check_same_partitioning(found: tuple[str, ...], options: TableOptions) -> None:
    """Whether a table is partitioned as it is declared."""
    if found != options.partition_by:
        raise OptionError(
            f"{options.location} is partitioned by {', '.join(found) or 'nothing'},"
            f" not by {', '.join(options.partition_by) or 'nothing'}"
        )


def to_arrow(schema: T.StructType) -> pa.Schema:
    """The types that files have, every field of which may be null."""
    return pa.schema(
        [pa.field(each.name, _arrow_type(each.dataType, each.name)) for each in schema]
    )


def _arrow_type(spark_type: T.DataType, path: str) -> pa.DataType:
    match spark_type:
        case T.StructType():
            return pa.struct(
                [
                    pa.field(each.name, _arrow_type(each.dataType, f"{path}.{each.name}"))
                    for each in spark_type
                ]
            )
        case T.ArrayType():
            return pa.list_(pa.field("element", _arrow_type(spark_type.elementType, path)))
        case T.MapType():
            return pa.map_(
                _arrow_type(spark_type.keyType, path), _arrow_type(spark_type.valueType, path)
            )
        case T.DecimalType():
            return pa.decimal128(spark_type.precision, spark_type.scale)
    if spark_type not in _ARROW:
        raise SchemaError(f"column {path}: a table cannot hold {spark_type.simpleString()}")
    return _ARROW[spark_type]


def _merge_fields(
    table: Iterable[T.StructField], rows: Iterable[T.StructField], prefix: str, widens: bool
) -> list[T.StructField]:
    coming = _by_name(rows, prefix)
    merged = []
    for each in table:
        other = coming.pop(each.name.lower(), each)
        path = prefix + each.name
        if other.name != each.name:
            raise SchemaError(f"column {prefix}{other.name}: the table has it as {path}")
        merged.append(T.StructField(each.name, _merge(each.dataType, other.dataType, path, widens)))
    added = [
        T.StructField(each.name, _new(each.dataType, prefix + each.name))
        for each in coming.values()
    ]
    return [*merged, *added]


def _by_name(fields: Iterable[T.StructField], prefix: str) -> dict[str, T.StructField]:
    """By names that differ by more than case: to Spark, most often, others are the same."""
    by_name: dict[str, T.StructField] = {}
    for each in fields:
        if by_name.setdefault(each.name.lower(), each) is not each:
            raise SchemaError(f"column {prefix}{each.name}: is there twice")
    return by_name


def _new(rows: T.DataType, path: str) -> T.DataType:
    """The type of a new field: as it is, but anything within may be null."""
    match rows:
        case T.StructType():
            return T.StructType(_merge_fields((), rows.fields, f"{path}.", False))
        case T.ArrayType():
            return T.ArrayType(_new(rows.elementType, f"{path}.element"))
        case T.MapType():
            key = _new(rows.keyType, f"{path}.key")
            return T.MapType(key, _new(rows.valueType, f"{path}.value"))
    _arrow_type(rows, path)
    return rows


def _merge(table: T.DataType, rows: T.DataType, path: str, widens: bool) -> T.DataType:
    match table, rows:
        case T.StructType(), T.StructType():
            return T.StructType(_merge_fields(table.fields, rows.fields, f"{path}.", widens))
        case T.ArrayType(), T.ArrayType():
            element = f"{path}.element"
            return T.ArrayType(_merge(table.elementType, rows.elementType, element, widens))
        case T.MapType(), T.MapType():
            key = _merge(table.keyType, rows.keyType, f"{path}.key", False)
            value = f"{path}.value"
            return T.MapType(key, _merge(table.valueType, rows.valueType, value, widens))
    if table == rows or _fits(rows, table):
        return table
    if widens and _is_wider(rows, table):
        return rows
    raise SchemaError(
        f"column {path}: the table has {table.simpleString()}, which cannot hold the"
        f" {rows.simpleString()} of the rows"
    )


def _fits(rows: T.DataType, table: T.DataType) -> bool:
    """Whether every value of one type is also one of the other."""
    if rows in _INTEGERS and table in _INTEGERS:
        return _INTEGERS.index(rows) <= _INTEGERS.index(table)
    match rows, table:
        case T.FloatType(), T.DoubleType():
            return True
        case T.DecimalType(), T.DecimalType():
            whole = table.precision - table.scale
            return rows.precision - rows.scale <= whole and rows.scale <= table.scale
        case _, T.DecimalType() if rows in _INTEGERS:
            return _DIGITS[rows.simpleString()] <= table.precision - table.scale
    return False


def _is_wider(rows: T.DataType, table: T.DataType) -> bool:
    match rows, table:
        case T.DecimalType(), T.DecimalType():
            return rows.scale == table.scale and rows.precision > table.precision
    return rows.simpleString() in _WIDER.get(table.simpleString(), ())
