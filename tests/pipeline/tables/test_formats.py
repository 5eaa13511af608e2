"""What holds in whatever format: rows and offsets are one commit, and upkeep loses nothing."""

import datetime
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from snakka.client.records import TopicPartition
from snakka.pipeline.errors import OptionError, SchemaError, StaleCommitError
from snakka.pipeline.tables.opening import FORMATS, table_for
from snakka.pipeline.tables.table import Step, Table, TableOptions
from tests.pipeline.tables.committer import PATIENCE_S, Committer
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, step

MIB = 1 << 20


@pytest.fixture(params=FORMATS)
def format_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def options(format_name: str, tmp_path: Path) -> TableOptions:
    return TableOptions(format_name, str(tmp_path / "orders"))


@pytest.fixture
def table(options: TableOptions) -> Table:
    return table_for(options)


def numbered(spark: SparkSession, begin: int, end: int, partitions: int = 1) -> DataFrame:
    return spark.range(begin, end, 1, partitions).withColumnRenamed("id", "offset")


def offsets_of(table: Table, spark: SparkSession) -> Counter[int]:
    return Counter(each.offset for each in table.read(spark).select("offset").collect())


def later_ms() -> int:
    """A moment that everything on disk is before."""
    return time.time_ns() // 1_000_000 + 2000


def files_below(location: str) -> set[str]:
    return {
        str(each) for each in Path(location).rglob("*.parquet") if "_delta_log" not in each.parts
    }


def test_rows_and_offsets_are_added_together(table: Table, spark: SparkSession) -> None:
    assert table.find_offsets(PIPELINE) is None
    first = table.append(numbered(spark, 0, 50, 2), step(0, 50))
    second = table_for(table.options).append(numbered(spark, 50, 70), step(50, 70))
    assert (first.row_count, first.file_count) == (50, 2)
    assert (second.row_count, second.file_count) == (20, 1)
    assert first.size_bytes > 0
    assert first.version != second.version
    again = table_for(table.options)
    assert again.find_offsets(PIPELINE) == {WHERE: 70}
    assert again.find_offsets("another") is None
    assert offsets_of(again, spark) == Counter(range(70))


def test_all_types_come_back_as_they_were(table: Table, spark: SparkSession) -> None:
    when = datetime.datetime(2024, 5, 6, 7, 8, 9, 123456)
    values: dict[str, Any] = {
        "text": "grüß Gott",
        "raw": b"\x00\xff",
        "flag": True,
        "number": -5,
        "ratio": 0.1,
        "price": Decimal("12.345"),
        "day": datetime.date(1969, 12, 31),
        "at": when,
        "words": ["a", None, ""],
        "counts": {"x": 1, "y": None},
        "dotted.name": 1,
        "nested": {"id": 7, "inner": {"name": "n", "tags": [{"k": "v"}]}},
    }
    ddl = (
        "text STRING, raw BINARY, flag BOOLEAN, number INT, ratio DOUBLE, price DECIMAL(10,3),"
        " day DATE, at TIMESTAMP, words ARRAY<STRING>, counts MAP<STRING, INT>,"
        " `dotted.name` INT,"
        " nested STRUCT<id: BIGINT, inner: STRUCT<name: STRING, tags: ARRAY<STRUCT<k: STRING>>>>"
    )
    rows = spark.createDataFrame([Row(**values), Row(**dict.fromkeys(values))], ddl)
    rows = rows.withColumn("local", F.col("at").cast("timestamp_ntz")).repartition(1)
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        table.append(rows, step(0, 2))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    found = table.read(spark)
    assert found.schema == rows.schema
    assert sorted(map(str, found.collect())) == sorted(map(str, rows.collect()))


def test_offsets_of_each_pipeline_and_partition_are_kept_apart(
    table: Table, spark: SparkSession
) -> None:
    other = TopicPartition("orders", 1)
    late = TopicPartition("a.topic-with_all", 12)
    table.append(numbered(spark, 0, 1), Step("one", {WHERE: 5, other: 0}, {WHERE: 6, other: 0}))
    table.append(numbered(spark, 0, 1), Step("two", {WHERE: 0}, {WHERE: 9}))
    table.append(numbered(spark, 1, 2), Step("one", {WHERE: 6, other: 0}, {WHERE: 6, other: 3}))
    table.append(numbered(spark, 2, 3), Step("one", {late: 0}, {late: 1 << 40}))
    assert table.find_offsets("one") == {WHERE: 6, other: 3, late: 1 << 40}
    assert table.find_offsets("two") == {WHERE: 9}


def test_a_step_without_rows_moves_the_offsets(table: Table, spark: SparkSession) -> None:
    table.append(numbered(spark, 0, 0), step(0, 10))
    assert table.find_offsets(PIPELINE) == {WHERE: 10}
    assert table.read(spark).count() == 0
    table.append(numbered(spark, 10, 12), step(10, 12))
    assert offsets_of(table, spark) == Counter([10, 11])


def test_a_step_that_begins_elsewhere_is_refused(table: Table, spark: SparkSession) -> None:
    table.append(numbered(spark, 0, 10), step(0, 10))
    before = files_below(table.options.location)
    for begin, end in ((0, 10), (5, 15), (11, 12)):
        with pytest.raises(StaleCommitError, match=PIPELINE):
            table.append(numbered(spark, begin, end), step(begin, end))
    assert files_below(table.options.location) == before
    assert offsets_of(table, spark) == Counter(range(10))


def test_who_commits_second_is_refused_though_it_looked_first(
    table: Table, spark: SparkSession, tmp_path: Path
) -> None:
    table.append(numbered(spark, 0, 10), step(0, 10))
    rival = table_for(table.options)

    def act() -> None:
        rival.append(numbered(spark, 10, 15), step(10, 15))

    with (
        meanwhile(act, numbered(spark, 10, 20), tmp_path) as rows,
        pytest.raises(StaleCommitError),
    ):
        table.append(rows, step(10, 20))
    assert len(files_below(table.options.location)) == 2
    assert table.find_offsets(PIPELINE) == {WHERE: 15}
    assert offsets_of(table, spark) == Counter(range(15))


def test_of_two_that_make_the_table_one_is_refused(
    table: Table, spark: SparkSession, tmp_path: Path
) -> None:
    rival = table_for(table.options)

    def act() -> None:
        rival.append(numbered(spark, 0, 5), step(0, 5))

    with (
        meanwhile(act, numbered(spark, 0, 8), tmp_path) as rows,
        pytest.raises(StaleCommitError),
    ):
        table.append(rows, step(0, 8))
    assert offsets_of(table, spark) == Counter(range(5))


def test_another_pipeline_does_not_make_a_step_stale(
    table: Table, spark: SparkSession, tmp_path: Path
) -> None:
    table.append(numbered(spark, 0, 10), step(0, 10))

    def act() -> None:
        grown = numbered(spark, 100, 110).withColumn("kind", F.lit("late"))
        table_for(table.options).append(grown, step(0, 10, "another"))

    with meanwhile(act, numbered(spark, 10, 20), tmp_path) as rows:
        table.append(rows, step(10, 20))
    assert offsets_of(table, spark) == Counter([*range(20), *range(100, 110)])
    assert table.find_offsets("another") == {WHERE: 10}


def test_processes_that_race_add_each_step_once(table: Table, spark: SparkSession) -> None:
    end, size = 60, 2
    with ExitStack() as stack:
        racers = [stack.enter_context(Committer(table.options, end, size)) for _ in range(2)]
        for each in racers:
            each.begin()
        told = [line.split() for each in racers for line in each.finish()]
    added = sorted(int(begin) for what, begin in told if what == "added")
    stale = [begin for what, begin in told if what == "stale"]
    assert added == list(range(0, end, size))
    assert stale, "they have not raced"
    assert table.find_offsets(PIPELINE) == {WHERE: end}
    assert offsets_of(table, spark) == Counter(range(end))
    assert len(files_below(table.options.location)) == len(added) + len(stale)


def test_what_a_killed_run_has_written_is_not_in_the_table_and_is_swept(
    table: Table, spark: SparkSession
) -> None:
    table.append(numbered(spark, 0, 10), step(0, 10))
    before = files_below(table.options.location)
    with Committer(table.options, 20, 10, "die") as killed:
        killed.begin()
        killed.finish(-signal.SIGKILL)
    left = files_below(table.options.location) - before
    assert len(left) == 1
    assert table.find_offsets(PIPELINE) == {WHERE: 10}
    assert offsets_of(table, spark) == Counter(range(10))
    size = sum(os.path.getsize(each) for each in left)
    assert table.sweep(older_than_ms=0).removed_file_count == 0
    swept = table.sweep(later_ms())
    assert (swept.removed_file_count, swept.removed_bytes) == (1, size)
    assert files_below(table.options.location) == before
    assert offsets_of(table, spark) == Counter(range(10))


def test_new_columns_are_added_and_missing_ones_are_null(table: Table, spark: SparkSession) -> None:
    def append(at: int, ddl: str, row: tuple[Any, ...]) -> None:
        table.append(spark.createDataFrame([row], ddl).coalesce(1), step(at, at + 1))

    append(0, "id INT, who STRUCT<name: STRING>", (1, ("a",)))
    append(
        1,
        "who STRUCT<age: INT, name: STRING>, tags ARRAY<STRUCT<k: INT>>, id INT",
        ((30, "b"), [(1,)], 2),
    )
    append(2, "id SMALLINT, tags ARRAY<STRUCT<k: INT, v: STRING>>", (3, [(2, "x")]))
    found = table.read(spark)
    assert found.schema.simpleString() == (
        "struct<id:int,who:struct<name:string,age:int>,tags:array<struct<k:int,v:string>>>"
    )
    assert sorted(found.collect()) == [
        Row(id=1, who=Row(name="a", age=None), tags=None),
        Row(id=2, who=Row(name="b", age=30), tags=[Row(k=1, v=None)]),
        Row(id=3, who=None, tags=[Row(k=2, v="x")]),
    ]


def test_rows_that_do_not_fit_are_refused_by_the_name_of_the_field(
    table: Table, spark: SparkSession
) -> None:
    first = "id INT, who STRUCT<name: STRING>, tags ARRAY<STRUCT<k: INT>>"
    table.append(spark.createDataFrame([], first), step(0, 1))
    for ddl, field in (
        ("id STRING", "id"),
        ("id INT, who STRUCT<name: BINARY>", "who.name"),
        ("id INT, tags ARRAY<STRUCT<k: DATE>>", "tags.element.k"),
        ("id INT, gap INTERVAL DAY TO SECOND", "gap"),
        ("id INT, Id INT", "Id"),
        ("who STRUCT<Name: STRING>", "who.Name"),
    ):
        with pytest.raises(SchemaError, match=f"^column {field}: "):
            table.append(spark.createDataFrame([], ddl), step(1, 2))
    assert table.find_offsets(PIPELINE) == {WHERE: 1}
    assert table.read(spark).schema == spark.createDataFrame([], first).schema


def test_partitions(options: TableOptions, spark: SparkSession) -> None:
    table = table_for(
        TableOptions(options.format, options.location, partition_by=("day", "where", "count"))
    )
    days = (datetime.date(2024, 1, 1), datetime.date(1969, 12, 31), None)
    places = ("a/b=c%20{d}", "plain", "ü *?[x]", "two words", None)
    values = [Row(offset=at, day=days[at % 3], where=places[at % 5], count=-1) for at in range(30)]
    rows = spark.createDataFrame(values, "offset BIGINT, day DATE, where STRING, count BIGINT")
    added = table.append(rows.coalesce(1), step(0, 30))
    assert added.file_count == 15
    assert sorted(map(str, table.read(spark).collect())) == sorted(map(str, values))
    found = table.read(spark).where("day = DATE'1969-12-31' AND where = 'plain'")
    assert {each.offset for each in found.collect()} == {1, 16}
    table.append(rows.coalesce(1), step(30, 60))
    packed = table.compact(spark, MIB)
    assert (packed.removed_file_count, packed.added_file_count) == (30, 15)
    assert sorted(map(str, table.read(spark).collect())) == sorted(map(str, values * 2))


@pytest.mark.parametrize(
    ("partition_by", "field"), [(("nowhere",), "nowhere"), (("ratio",), "ratio")]
)
def test_partitions_that_cannot_be(
    options: TableOptions, spark: SparkSession, partition_by: tuple[str, ...], field: str
) -> None:
    table = table_for(TableOptions(options.format, options.location, partition_by))
    with pytest.raises(SchemaError, match=f"^column {field}: "):
        table.append(spark.createDataFrame([], "id INT, ratio DOUBLE"), step(0, 1))


def test_a_table_keeps_the_partitions_that_it_was_made_with(
    options: TableOptions, spark: SparkSession
) -> None:
    rows = spark.createDataFrame([], "id INT, kind STRING")
    table_for(options).append(rows, step(0, 1))
    other = table_for(TableOptions(options.format, options.location, ("kind",)))
    with pytest.raises(OptionError, match="partitioned by nothing, not by kind"):
        other.append(rows, step(1, 2))


def test_compaction_keeps_rows_and_offsets(table: Table, spark: SparkSession) -> None:
    for at in range(0, 40, 10):
        table.append(numbered(spark, at, at + 10, 2), step(at, at + 10))
    earlier = table.read(spark)
    packed = table.compact(spark, MIB)
    assert (packed.removed_file_count, packed.added_file_count) == (8, 1)
    assert packed.removed_bytes > 0
    assert len(table.read(spark).inputFiles()) == 1
    assert offsets_of(table, spark) == Counter(range(40))
    assert table.find_offsets(PIPELINE) == {WHERE: 40}
    assert Counter(each.offset for each in earlier.collect()) == Counter(range(40))
    again = table.compact(spark, MIB)
    assert (again.removed_file_count, again.added_file_count) == (0, 0)
    table.append(numbered(spark, 40, 50), step(40, 50))
    assert offsets_of(table, spark) == Counter(range(50))


def test_compaction_after_the_table_has_grown(table: Table, spark: SparkSession) -> None:
    small = "id INT, s STRUCT<x: STRING>"
    grown = "id INT, s STRUCT<x: STRING, y: INT>, z DOUBLE"
    table.append(spark.createDataFrame([(1, ("a",))], small), step(0, 1))
    table.append(spark.createDataFrame([(2, ("b", 5), 0.5)], grown), step(1, 2))
    before = sorted(map(str, table.read(spark).collect()))
    assert table.compact(spark, MIB).added_file_count == 1
    assert sorted(map(str, table.read(spark).collect())) == before


def test_an_append_during_a_compaction_survives(
    table: Table, spark: SparkSession, tmp_path: Path
) -> None:
    for at in range(0, 30, 10):
        table.append(numbered(spark, at, at + 10), step(at, at + 10))

    def act() -> None:
        assert table_for(table.options).compact(spark, MIB).removed_file_count == 3

    with meanwhile(act, numbered(spark, 30, 40), tmp_path) as rows:
        table.append(rows, step(30, 40))
    assert offsets_of(table, spark) == Counter(range(40))
    assert len(table.read(spark).inputFiles()) == 2


def test_compactions_and_an_appending_process_side_by_side(
    table: Table, spark: SparkSession
) -> None:
    end, size = 100, 5
    removed = 0
    with Committer(table.options, end, size) as appending, ThreadPoolExecutor(2) as pool:
        appending.begin()
        while appending.is_running():
            if table.find_offsets(PIPELINE) is not None:
                both = [pool.submit(table_for(table.options).compact, spark, MIB) for _ in "ab"]
                removed += sum(each.result().removed_file_count for each in both)
        assert not [line for line in appending.finish() if line.startswith("stale")]
    assert removed > 0
    assert table.find_offsets(PIPELINE) == {WHERE: end}
    assert offsets_of(table, spark) == Counter(range(end))


def test_upkeep_leaves_the_last_version(table: Table, spark: SparkSession) -> None:
    for at in range(0, 30, 10):
        table.append(numbered(spark, at, at + 10), step(at, at + 10))
    table.compact(spark, MIB)
    version = table.read(spark)
    assert table.expire(older_than_ms=0).removed_file_count == 0
    assert table.sweep(later_ms()).removed_file_count == 0
    expired = table.expire(later_ms())
    assert expired.removed_file_count >= 3
    assert len(files_below(table.options.location)) == 1
    assert table.sweep(later_ms()).removed_file_count == 0
    assert Counter(each.offset for each in version.collect()) == Counter(range(30))
    assert offsets_of(table, spark) == Counter(range(30))
    assert table.find_offsets(PIPELINE) == {WHERE: 30}
    table.append(numbered(spark, 30, 40), step(30, 40))
    assert offsets_of(table, spark) == Counter(range(40))


def test_a_table_that_is_not_there(table: Table, spark: SparkSession) -> None:
    for act in (
        lambda: table.read(spark),
        lambda: table.compact(spark, MIB),
        lambda: table.expire(later_ms()),
        lambda: table.sweep(later_ms()),
    ):
        with pytest.raises(FileNotFoundError, match=f"{table.options.location}: there is no table"):
            act()


def test_a_table_is_not_made_among_files_of_others(
    table: Table, spark: SparkSession, tmp_path: Path
) -> None:
    spark.range(3).write.parquet(table.options.location)
    with pytest.raises(OptionError, match=f"has files that are of no {table.options.format} table"):
        table.append(spark.range(3), step(0, 3))
    assert spark.read.parquet(table.options.location).count() == 3


@contextmanager
def meanwhile(action: Callable[[], None], rows: DataFrame, directory: Path) -> Iterator[DataFrame]:
    """Rows that are held back, once a task has begun with them, until something was done."""
    started, done = directory / "started", directory / "done"

    def hold(batches: Iterable[Any]) -> Iterator[Any]:
        started.touch()
        while not done.exists():
            time.sleep(0.02)
        yield from batches

    def act() -> None:
        deadline = time.monotonic() + PATIENCE_S
        try:
            while not started.exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            action()
        finally:
            done.touch()

    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(act)
        yield rows.mapInArrow(hold, rows.schema)
        acting.result()
