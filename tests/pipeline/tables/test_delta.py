"""What is particular to Delta; deltalake's own reader and history say what is in the table."""

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from snakka.client.records import TopicPartition
from snakka.pipeline.errors import OptionError, SchemaError
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.table import Step, Table, TableOptions
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, numbers, step


def delta(location: Path, *partition_by: str, **properties: str) -> Table:
    return table_for(TableOptions("delta", str(location), partition_by, properties))


def test_deltalake_reads_the_same_rows(tmp_path: Path, spark: SparkSession) -> None:
    table = delta(tmp_path / "t", "kind")
    values = [(at, f"k {at % 3}/", None if at % 4 else [at], (at, "x")) for at in range(20)]
    ddl = "id BIGINT, kind STRING, list ARRAY<BIGINT>, pair STRUCT<a: BIGINT, b: STRING>"
    table.append(spark.createDataFrame(values[:10], ddl), step(0, 10))
    table.append(spark.createDataFrame(values[10:], ddl), step(10, 20))
    table.compact(spark, 1 << 20)
    theirs = pa.table(DeltaTable(table.options.location).to_pyarrow_table()).to_pylist()
    ours = [each.asDict(recursive=True) for each in table.read(spark).collect()]
    assert sorted(theirs, key=lambda row: row["id"]) == sorted(ours, key=lambda row: row["id"])
    assert len(ours) == 20


def test_offsets_outlast_the_entries_of_the_log(tmp_path: Path, spark: SparkSession) -> None:
    table = delta(tmp_path / "t")
    quiet = TopicPartition("orders", 1)
    table.append(spark.range(1), Step(PIPELINE, {quiet: 0, WHERE: 0}, {quiet: 7, WHERE: 0}))
    for at in range(3):
        table.append(spark.range(at, at + 1), step(at, at + 1))
    DeltaTable(table.options.location).create_checkpoint()
    entries = sorted((tmp_path / "t" / "_delta_log").glob("*.json"))
    for each in entries[:-1]:
        each.unlink()
    again = delta(tmp_path / "t")
    assert again.find_offsets(PIPELINE) == {WHERE: 3, quiet: 7}
    again.append(spark.range(3, 4), step(3, 4))
    assert again.find_offsets(PIPELINE) == {WHERE: 4, quiet: 7}
    assert again.read(spark).count() == 5


def test_rows_and_offsets_are_in_one_entry_of_the_log(tmp_path: Path, spark: SparkSession) -> None:
    table = delta(tmp_path / "t")
    table.append(spark.range(0, 5, 1, 1), step(0, 5))
    added = table.append(spark.range(5, 9, 1, 1), step(5, 9))
    entry = tmp_path / "t" / "_delta_log" / f"{added.version:020}.json"
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    assert [each["txn"]["version"] for each in actions if "txn" in each] == [9]
    (add,) = [each["add"] for each in actions if "add" in each]
    assert add["size"] == added.size_bytes == (tmp_path / "t" / add["path"]).stat().st_size
    assert json.loads(add["stats"]) == {
        "numRecords": 4,
        "minValues": {"id": 5},
        "maxValues": {"id": 8},
        "nullCount": {"id": 0},
    }


def test_statistics_skip_only_files_without_the_rows(tmp_path: Path, spark: SparkSession) -> None:
    """deltalake passes over files by what their statistics say."""
    table = delta(tmp_path / "t")
    at = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    for index in range(4):
        row: dict[str, Any] = {
            "id": index,
            "text": f"{index}" * 3,
            "ratio": index / 3,
            "at": at + datetime.timedelta(microseconds=index),
            "day": at.date() + datetime.timedelta(days=index),
            "in": {"n": index if index else None},
        }
        ddl = "id INT, text STRING, ratio DOUBLE, at TIMESTAMP, day DATE, in STRUCT<n: INT>"
        table.append(spark.createDataFrame([row], ddl).coalesce(1), step(index, index + 1))
    theirs = DeltaTable(table.options.location)
    for condition in (
        "id = 2",
        "text = '222'",
        "ratio > 0.6 AND ratio < 0.7",
        "day = DATE '2024-01-03'",
        "at = TIMESTAMP '2024-01-01T12:00:00.000002Z'",
    ):
        found = pa.table(theirs.scan(predicate=condition).read_all()).to_pylist()
        assert [each["id"] for each in found] == [2], condition
    listed = pa.table(theirs.get_add_actions(flatten=True)).to_pylist()
    assert sorted(each["null_count.in.n"] for each in listed) == [0, 0, 0, 1]
    assert {each["max.at"] for each in listed} == {
        at + datetime.timedelta(microseconds=index) for index in range(4)
    }


def test_a_wider_type_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    table = delta(tmp_path / "t")
    table.append(spark.createDataFrame([(1,)], "id INT"), step(0, 1))
    with pytest.raises(SchemaError, match=r"^column id: the table has int, which cannot hold"):
        table.append(spark.createDataFrame([(1 << 40,)], "id BIGINT"), step(1, 2))


def test_a_table_that_others_write_to_as_well(tmp_path: Path, spark: SparkSession) -> None:
    write_deltalake(tmp_path / "t", numbers(0, 10))
    table = delta(tmp_path / "t")
    table.append(spark.range(10, 20).withColumnRenamed("id", "offset"), step(10, 20))
    write_deltalake(tmp_path / "t", numbers(20, 30), mode="append")
    DeltaTable(tmp_path / "t").optimize.compact()
    assert table.find_offsets(PIPELINE) == {WHERE: 20}
    assert sorted(each.offset for each in table.read(spark).collect()) == list(range(30))


def test_a_table_that_asks_for_checks_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    write_deltalake(tmp_path / "t", numbers(0, 10))
    DeltaTable(tmp_path / "t").alter.add_constraint({"positive": '"offset" >= 0'})
    with pytest.raises(SchemaError, match="asks for what is not done here"):
        delta(tmp_path / "t").append(spark.range(3), step(0, 3))


def test_a_column_that_must_not_be_null_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    required = pa.schema([pa.field("id", pa.int64(), nullable=False)])
    DeltaTable.create(tmp_path / "t", required)
    with pytest.raises(SchemaError, match=r"^column id: "):
        delta(tmp_path / "t").append(spark.range(3), step(0, 3))


def test_a_name_that_delta_does_not_allow(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(SchemaError, match=r"^column 'two words': "):
        delta(tmp_path / "t").append(spark.createDataFrame([(1,)], "`two words` INT"), step(0, 1))


def test_properties(tmp_path: Path, spark: SparkSession) -> None:
    table = delta(tmp_path / "t", **{"delta.checkpointInterval": "2"})
    for at in range(4):
        table.append(spark.range(1), step(at, at + 1))
    assert list((tmp_path / "t" / "_delta_log").glob("*.checkpoint.parquet"))
    with pytest.raises(OptionError, match=r"checkpointIntervall; did you mean delta.checkpointInt"):
        delta(tmp_path / "t", **{"delta.checkpointIntervall": "2"})
    with pytest.raises(OptionError, match=r"property delta.logRetentionDuration: 'often'"):
        delta(tmp_path / "t", **{"delta.logRetentionDuration": "often"})


def test_a_compaction_that_would_lose_rows_changes_nothing(
    tmp_path: Path, spark: SparkSession
) -> None:
    table = delta(tmp_path / "t")
    for at in range(2):
        table.append(spark.range(at, at + 1, 1, 1), step(at, at + 1))
    torn, whole = sorted((tmp_path / "t").glob("*.parquet"))
    held = torn.read_bytes()
    torn.write_bytes(held[: len(held) // 2])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(RuntimeError, match="Spark did not read all rows"):
            table.compact(spark, 1 << 20)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
    torn.write_bytes(held)
    assert sorted((tmp_path / "t").glob("*.parquet")) == [torn, whole]
    assert sorted(each.id for each in table.read(spark).collect()) == [0, 1]


def test_expiry_counts_from_when_a_file_was_removed(tmp_path: Path, spark: SparkSession) -> None:
    table = delta(tmp_path / "t")
    table.append(spark.range(0, 5, 1, 2), step(0, 5))
    table.compact(spark, 1 << 20)
    hour_ago = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    assert table.expire(int(hour_ago.timestamp() * 1000)).removed_file_count == 0
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 3
