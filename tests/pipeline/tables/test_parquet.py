"""What is particular to plain Parquet: the log of our own."""

import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StructField, StructType

from snakka.pipeline.errors import OptionError
from snakka.pipeline.tables.file_table import FileTable
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.parquet import COMMITS_PER_BASE, ParquetLog
from snakka.pipeline.tables.table import TableOptions
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, numbers, step, write_here

SCHEMA = StructType([StructField("offset", LongType())])


def add_steps(log: ParquetLog, begin: int, end: int) -> None:
    for at in range(begin, end):
        files = write_here(numbers(at, at + 1), log.fit(SCHEMA, step(at, at + 1)).layout)
        log.add(files, step(at, at + 1))


def commits(location: Path) -> list[Path]:
    return sorted((location / "_snakka").glob("*.json"))


def test_many_commits_are_read_from_the_last_that_lists_all_files(
    tmp_path: Path, spark: SparkSession
) -> None:
    options = TableOptions("parquet", str(tmp_path / "t"))
    log = ParquetLog(options)
    count = 2 * COMMITS_PER_BASE + 3
    add_steps(log, 0, count)
    for each in commits(tmp_path / "t")[: 2 * COMMITS_PER_BASE]:
        each.unlink()
    table = FileTable(options, ParquetLog(options))
    assert table.find_offsets(PIPELINE) == {WHERE: count}
    found = Counter(each.offset for each in table.read(spark).collect())
    assert found == Counter(range(count))


def test_expiry_keeps_what_later_commits_build_upon(tmp_path: Path, spark: SparkSession) -> None:
    options = TableOptions("parquet", str(tmp_path / "t"))
    log = ParquetLog(options)
    add_steps(log, 0, COMMITS_PER_BASE + 5)
    FileTable(options, log).compact(spark, 1 << 20)
    add_steps(log, COMMITS_PER_BASE + 5, COMMITS_PER_BASE + 8)
    assert log.expire(1 << 42).removed_file_count == COMMITS_PER_BASE + 5
    assert json.loads(commits(tmp_path / "t")[0].read_text())["base"] == COMMITS_PER_BASE
    assert int(commits(tmp_path / "t")[0].stem) == COMMITS_PER_BASE
    version = log.find_version()
    assert version is not None
    assert len(version.files) == 4
    assert log.find_offsets(PIPELINE) == {WHERE: COMMITS_PER_BASE + 8}


def test_what_a_killed_commit_leaves_is_swept(tmp_path: Path, spark: SparkSession) -> None:
    table = table_for(TableOptions("parquet", str(tmp_path / "t")))
    table.append(spark.range(3), step(0, 3))
    torn = tmp_path / "t" / "_snakka" / "0a.tmp"
    torn.write_text('{"time_')
    assert table.find_offsets(PIPELINE) == {WHERE: 3}
    assert table.sweep(1 << 42).removed_file_count == 1
    assert not torn.exists()
    assert table.read(spark).count() == 3


def test_there_are_no_properties(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="a Parquet table has no property compression"):
        table_for(TableOptions("parquet", str(tmp_path), (), {"compression": "snappy"}))
