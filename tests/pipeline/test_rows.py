"""Rows become records: which schemas can be written, and what is told of those that cannot."""

import pyarrow as pa
import pytest
from pyspark.sql import Row as SparkRow
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

from snakka.pipeline.errors import SchemaError
from snakka.pipeline.rows import Row, check_schema, rows

HEADER = StructType().add("key", StringType()).add("value", BinaryType())
KINDS: dict[str, DataType] = {
    "binary": BinaryType(),
    "bigint": LongType(),
    "headers": ArrayType(HEADER),
    "int": IntegerType(),
    "string": StringType(),
    "strings": ArrayType(StringType()),
}


def schema(columns: str) -> StructType:
    """`name kind, ...` as a schema."""
    fields = StructType()
    for each in columns.split(", "):
        name, kind = each.split()
        fields = fields.add(name, KINDS[kind])
    return fields


@pytest.mark.parametrize(
    "columns",
    [
        "value string, topic string",
        "key binary, value binary, topic string, partition int",
        "value binary, topic string, headers headers, other bigint",
    ],
)
def test_schemas_that_can_be_written(columns: str) -> None:
    check_schema(schema(columns), None)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("key string, topic string", "column value: is missing"),
        ("value string", "column topic: is missing, and so is the option topic"),
        ("value int, topic string", "column value: is int, not binary or string"),
        (
            "value string, topic string, partition bigint",
            "column partition: is bigint, not integer",
        ),
        (
            "value string, topic string, headers strings",
            r"column headers: .*not array<struct",
        ),
        (
            "value string, topic string, headers string",
            "column headers: is string, not array<struct",
        ),
    ],
)
def test_a_schema_that_cannot_names_the_column(columns: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        check_schema(schema(columns), None)


def test_text_becomes_utf8_and_the_option_topic_comes_first() -> None:
    batch = pa.RecordBatch.from_pydict({"value": ["é", None], "topic": ["t", "u"], "x": [1, 2]})
    assert list(rows(batch, None)) == [
        Row("t", None, None, "é".encode(), ()),
        Row("u", None, None, None, ()),
    ]
    assert {each.topic for each in rows(batch, "v")} == {"v"}


def test_a_row_without_a_topic() -> None:
    batch = pa.RecordBatch.from_pydict({"value": ["a"], "topic": pa.array([None], pa.string())})
    with pytest.raises(SchemaError, match="column topic: is null"):
        list(rows(batch, None))


def test_single_rows_as_older_sparks_give_them() -> None:
    row = SparkRow(
        key=b"k", value="v", partition=3, headers=[SparkRow(key="h", value=b"x")], other=1
    )
    assert list(rows(row, "t")) == [Row("t", 3, b"k", b"v", (("h", b"x"),))]
