"""How schemas grow, on types alone."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from snakka.pipeline.errors import SchemaError
from snakka.pipeline.tables.schema import check_partitioning, evolve, relax


@pytest.fixture(autouse=True)
def _session(spark: SparkSession) -> None:
    """A schema is read from its text by Spark."""


def ddl(text: str) -> StructType:
    schema = StructType.fromDDL(text)
    assert isinstance(schema, StructType)
    return schema


def grown(table: str, rows: str, *, widens: bool = True) -> str:
    return evolve(ddl(table), ddl(rows), widens=widens).simpleString()


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("a BIGINT", "a TINYINT"),
        ("a DOUBLE", "a FLOAT"),
        ("a DECIMAL(20,4)", "a DECIMAL(18,2)"),
        ("a DECIMAL(12,2)", "a INT"),
        ("a STRUCT<b: INT, c: INT>", "a STRUCT<c: SMALLINT>"),
        ("a MAP<STRING, BIGINT>", "a MAP<STRING, INT>"),
    ],
)
def test_rows_that_fit_change_nothing(table: str, rows: str) -> None:
    assert grown(table, rows, widens=False) == ddl(table).simpleString()


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("a INT", "a BIGINT"),
        ("a FLOAT", "a DOUBLE"),
        ("a DECIMAL(5,2)", "a DECIMAL(9,2)"),
        ("a ARRAY<INT>", "a ARRAY<BIGINT>"),
        ("a MAP<STRING, FLOAT>", "a MAP<STRING, DOUBLE>"),
    ],
)
def test_a_table_is_widened_where_its_format_can(table: str, rows: str) -> None:
    assert grown(table, rows) == ddl(rows).simpleString()
    with pytest.raises(SchemaError, match=r"^column a"):
        grown(table, rows, widens=False)


@pytest.mark.parametrize(
    ("table", "rows", "field"),
    [
        ("a DECIMAL(5,2)", "a DECIMAL(9,3)", "a"),
        ("a DECIMAL(9,2)", "a INT", "a"),
        ("a FLOAT", "a INT", "a"),
        ("a DATE", "a TIMESTAMP", "a"),
        ("a TIMESTAMP", "a TIMESTAMP_NTZ", "a"),
        ("a STRUCT<b: INT>", "a INT", "a"),
        ("a MAP<INT, INT>", "a MAP<BIGINT, INT>", "a.key"),
        ("a INT", "a INT, b STRUCT<c: INTERVAL YEAR>", "b.c"),
        ("a INT", "a INT, b ARRAY<STRUCT<c: INT, C: INT>>", "b.element.C"),
    ],
)
def test_what_does_not_fit_is_named(table: str, rows: str, field: str) -> None:
    with pytest.raises(SchemaError, match=rf"^column {field}: "):
        grown(table, rows)


def test_new_fields_come_last_and_may_be_null() -> None:
    schema = evolve(
        ddl("a INT"),
        ddl("b STRUCT<c: INT NOT NULL> NOT NULL, a INT NOT NULL"),
        widens=False,
    )
    assert schema == ddl("a INT, b STRUCT<c: INT>")


def test_a_column_that_must_not_be_null_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"^column b: "):
        relax(ddl("a INT, b INT NOT NULL"))


def test_partitions_need_a_column_besides() -> None:
    check_partitioning(ddl("a INT, b STRING"), ("b",))
    with pytest.raises(SchemaError, match="needs a column that it is not partitioned by"):
        check_partitioning(ddl("a INT, b STRING"), ("b", "a"))
