"""What is particular to Iceberg; pyiceberg's own reader and metadata say what is in the table."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table as IcebergTable
from pyspark.sql import SparkSession

from snakka.pipeline.errors import OptionError, SchemaError
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.table import Table, TableOptions
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, step

MERGE_AT_TWO = {"commit.manifest.min-count-to-merge": "2"}


def iceberg(location: Path, *partition_by: str, **properties: str) -> Table:
    return table_for(TableOptions("iceberg", str(location), partition_by, properties))


def theirs(location: Path, name: str = "snakka.t") -> IcebergTable:
    """The table as anybody opens it."""
    return SqlCatalog("default", uri=f"sqlite:///{location}/catalog.db").load_table(name)


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["id"])


def test_pyiceberg_reads_the_same_rows(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(tmp_path / "t", "kind")
    values = [(at, f"k {at % 3}/", None if at % 4 else [at], (at, "x")) for at in range(20)]
    ddl = "id BIGINT, kind STRING, list ARRAY<BIGINT>, pair STRUCT<a: BIGINT, b: STRING>"
    table.append(spark.createDataFrame(values[:10], ddl), step(0, 10))
    table.append(spark.createDataFrame(values[10:], ddl), step(10, 20))
    table.compact(spark, 1 << 20)
    read = theirs(tmp_path / "t").scan().to_arrow().to_pylist()
    ours = [each.asDict(recursive=True) for each in table.read(spark).collect()]
    assert in_order(read) == in_order(ours)
    assert len(ours) == 20
    found = theirs(tmp_path / "t").scan("kind = 'k 1/' and id > 15").to_arrow().to_pylist()
    assert {each["id"] for each in found} == {16, 19}


def test_offsets_outlast_the_snapshots_that_brought_them(
    tmp_path: Path, spark: SparkSession
) -> None:
    table = iceberg(tmp_path / "t")
    table.append(spark.range(3), step(0, 3))
    for at in range(2):
        table.append(spark.range(at, at + 1), step(at, at + 1, "another"))
    table.expire(1 << 42)
    assert len(theirs(tmp_path / "t").snapshots()) == 1
    assert table.find_offsets(PIPELINE) == {WHERE: 3}
    assert len(list((tmp_path / "t" / "metadata").glob("snap-*.avro"))) == 1


def test_rows_and_offsets_are_in_one_file_of_metadata(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(tmp_path / "t")
    table.append(spark.range(0, 5, 1, 1), step(0, 5))
    added = table.append(spark.range(5, 9, 1, 1), step(5, 9))
    metadata = sorted((tmp_path / "t" / "metadata").glob("*.metadata.json"))
    held = [json.loads(each.read_text()) for each in metadata]
    assert [
        (
            sum(int(each["summary"]["added-records"]) for each in one.get("snapshots", [])),
            one["properties"].get(f"snakka.offsets.{PIPELINE}"),
        )
        for one in held
    ] == [(0, None), (5, '{"orders": {"0": 5}}'), (9, '{"orders": {"0": 9}}')]
    snapshot = theirs(tmp_path / "t").current_snapshot()
    assert snapshot is not None
    assert snapshot.snapshot_id == added.version
    assert snapshot.summary is not None
    assert snapshot.summary["added-files-size"] == str(added.size_bytes)


def test_a_wider_type_widens_the_table(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(tmp_path / "t")
    first = "id INT, in STRUCT<r: FLOAT>, price DECIMAL(5,2)"
    wider = "id BIGINT, in STRUCT<r: DOUBLE>, price DECIMAL(12,2)"
    table.append(spark.createDataFrame([(1, (0.5,), None)], first), step(0, 1))
    table.append(spark.createDataFrame([(1 << 40, (0.1,), None)], wider), step(1, 2))
    assert table.read(spark).schema == spark.createDataFrame([], wider).schema
    assert sorted((each.id, each["in"].r) for each in table.read(spark).collect()) == [
        (1, 0.5),
        (1 << 40, 0.1),
    ]
    read = theirs(tmp_path / "t").scan().to_arrow().to_pylist()
    assert sorted((each["id"], each["in"]["r"]) for each in read) == [(1, 0.5), (1 << 40, 0.1)]
    table.compact(spark, 1 << 20)
    assert sorted(each.id for each in table.read(spark).collect()) == [1, 1 << 40]


def test_manifests_are_merged(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(tmp_path / "t", **MERGE_AT_TWO)
    for at in range(5):
        table.append(spark.range(at, at + 1, 1, 1), step(at, at + 1))
    current = theirs(tmp_path / "t")
    snapshot = current.current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(current.io)) == 1
    assert sorted(each.id for each in table.read(spark).collect()) == list(range(5))


def test_a_table_that_others_write_to_as_well(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(tmp_path / "t")
    table.append(spark.range(0, 10), step(0, 10))
    theirs(tmp_path / "t").append(pa.table({"id": pa.array(range(10, 20), pa.int64())}))
    table.append(spark.range(20, 30), step(10, 20))
    table.compact(spark, 1 << 20)
    assert sorted(each.id for each in table.read(spark).collect()) == list(range(30))


def test_a_column_that_was_renamed_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(tmp_path / "t")
    table.append(spark.range(3), step(0, 3))
    with theirs(tmp_path / "t").update_schema() as update:
        update.rename_column("id", "number")
    with pytest.raises(SchemaError, match=r"^column id: was renamed"):
        table.read(spark)
    with pytest.raises(SchemaError, match=r"^column id: was renamed"):
        table.append(spark.range(3), step(3, 6))


def test_a_catalog_of_ones_own(tmp_path: Path, spark: SparkSession) -> None:
    properties = {
        "table": "sales.orders",
        "catalog.type": "sql",
        "catalog.uri": f"sqlite:///{tmp_path}/all.db",
    }
    table = iceberg(tmp_path / "t", **properties)
    assert table.find_offsets(PIPELINE) is None
    table.append(spark.range(3), step(0, 3))
    assert not (tmp_path / "t" / "catalog.db").exists()
    catalog = SqlCatalog("default", uri=f"sqlite:///{tmp_path}/all.db")
    assert catalog.load_table("sales.orders").scan().to_arrow().num_rows == 3


def test_old_metadata_is_swept(tmp_path: Path, spark: SparkSession) -> None:
    table = iceberg(
        tmp_path / "t",
        **{
            "write.metadata.delete-after-commit.enabled": "false",
            "write.metadata.previous-versions-max": "1",
        },
    )
    for at in range(3):
        table.append(spark.range(1), step(at, at + 1))
    assert len(list((tmp_path / "t" / "metadata").glob("*.metadata.json"))) == 4
    assert table.sweep(1 << 42).removed_file_count == 2
    assert table.read(spark).count() == 3


def test_properties(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"min-count-to-merg; did you mean commit.manifest.min"):
        iceberg(tmp_path / "t", **{"commit.manifest.min-count-to-merg": "2"})
    with pytest.raises(OptionError, match=r"property format-version: '7'"):
        iceberg(tmp_path / "t", **{"format-version": "7"})
    with pytest.raises(OptionError, match=r"properties catalog.\*: 'sqll' is not a valid"):
        iceberg(tmp_path / "t", **{"catalog.type": "sqll"}).find_offsets(PIPELINE)
