"""Where a pipeline's rows go: a table, or a topic. Both keep how far the sources are in them.

Not here: the tables (tables/), the topic's transaction (applications.py).
"""

from typing import Final, NamedTuple, Protocol

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import BinaryType, DataType, StringType

from snakka.pipeline.declared.applications import Application
from snakka.pipeline.declared.declaration import Pipeline, TopicOptions
from snakka.pipeline.declared.decoding import KEY, OFFSET, PARTITION, TOPIC
from snakka.pipeline.declared.headers import HEADERS_TYPE, header, with_headers
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.option_values import client_options
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.table import Step, Table

APPLICATION_PREFIX: Final = "pipeline-"
_OF_A_RECORD: Final = ("key", "headers", "partition")


class Written(NamedTuple):
    """What a step has added."""

    row_count: int
    version: int | None = None
    file_count: int | None = None


class Target(Protocol):
    def find_offsets(self) -> Offsets | None:
        """How far the sources are in it; None where nothing was written yet."""

    def append(self, rows: DataFrame, step: Step) -> Written:
        """Adds the rows and moves the offsets at once; StaleCommitError where others have."""

    def rows(self, spark: SparkSession) -> DataFrame:
        """All rows that are there, of a topic their coordinates alone."""


class TableTarget:
    def __init__(self, table: Table, pipeline: str) -> None:
        self.table = table
        self._pipeline = pipeline

    def find_offsets(self) -> Offsets | None:
        return self.table.find_offsets(self._pipeline)

    def append(self, rows: DataFrame, step: Step) -> Written:
        added = self.table.append(rows, step)
        return Written(added.row_count, added.version, added.file_count)

    def rows(self, spark: SparkSession) -> DataFrame:
        return self.table.read(spark)


class TopicTarget:
    def __init__(self, pipeline: Pipeline, options: TopicOptions) -> None:
        self._topic = options.topic
        self._options = {**client_options(pipeline.options), **options.options}
        self._application = Application(APPLICATION_PREFIX + pipeline.name, self._options)

    def find_offsets(self) -> Offsets | None:
        return self._application.find_offsets()

    def append(self, rows: DataFrame, step: Step) -> Written:
        counting = Observation()
        counted = records_of(rows).observe(counting, sf.count("*").alias("rows"))
        before = step.begin if self.find_offsets() is not None else None
        self._application.write(counted, self._topic, before, step.end)
        return Written(counting.get["rows"])

    def rows(self, spark: SparkSession) -> DataFrame:
        reader = spark.read.format("snakka").options(**client_options(self._options))
        return reader.option("subscribe", self._topic).load().transform(places_of)


def target_of(pipeline: Pipeline) -> Target:
    if isinstance(pipeline.target, TopicOptions):
        return TopicTarget(pipeline, pipeline.target)
    return TableTarget(table_for(pipeline.target), pipeline.name)


def records_of(rows: DataFrame) -> DataFrame:
    """Rows as records: `value` as it is, or else all columns as JSON; coordinates as headers."""
    types = {each.name: each.dataType for each in rows.schema.fields}
    named = {each: sf.col(each) for each in _OF_A_RECORD if each in types}
    if KEY in types and "key" not in types and _is_bytes(types[KEY]):
        named["key"] = sf.col(KEY)
    if OFFSET in types:
        told = {"topic": sf.col(TOPIC), "partition": sf.col(PARTITION), "offset": sf.col(OFFSET)}
        own = named.get("headers", sf.lit(None).cast(HEADERS_TYPE))
        named["headers"] = with_headers(own, told)
    value = sf.col("value") if _is_bytes(types.get("value")) else _as_json(rows)
    return rows.select(value.alias("value"), *(each.alias(name) for name, each in named.items()))


def places_of(records: DataFrame) -> DataFrame:
    """The coordinates that records say they come from."""
    return records.select(
        header("topic").alias(TOPIC),
        header("partition").cast("int").alias(PARTITION),
        header("offset").cast("long").alias(OFFSET),
    )


def _as_json(rows: DataFrame) -> Column:
    names = [each for each in rows.columns if not each.startswith("_") and each not in _OF_A_RECORD]
    return sf.to_json(sf.struct(*names))


def _is_bytes(kind: DataType | None) -> bool:
    return isinstance(kind, BinaryType | StringType)
