"""Rows of a pipeline as records of a topic.

Not here: the transaction that they are written in (applications.py).
"""

from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import BinaryType, DataType, StringType

from snakka.pipeline.declared.applications import APPLICATION_PREFIX, Application
from snakka.pipeline.declared.declaration import Pipeline, TopicOptions
from snakka.pipeline.declared.decoding import KEY, OFFSET, PARTITION, PLACE, TOPIC
from snakka.pipeline.declared.headers import HEADERS_TYPE, with_headers
from snakka.pipeline.declared.places import places_of
from snakka.pipeline.declared.target import Written
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.option_values import client_options
from snakka.pipeline.tables.table import Step

_OF_A_RECORD: Final = ("key", "headers", "partition")


class TopicTarget:
    def __init__(self, pipeline: Pipeline, options: TopicOptions) -> None:
        self._topic = options.topic
        self._options = {**client_options(pipeline.options), **options.options}
        self._application = Application(APPLICATION_PREFIX + pipeline.name, self._options)

    def find_offsets(self) -> Offsets | None:
        return self._application.find_offsets()

    def take_over(self) -> Offsets | None:
        return self._application.take_over()

    def append(self, rows: DataFrame, step: Step) -> Written:
        ordered = in_order(rows) if OFFSET in rows.columns else rows
        return Written(self._application.append(records_of(ordered), self._topic, step))

    def rows(self, spark: SparkSession) -> DataFrame:
        reader = spark.read.format("snakka").options(**client_options(self._options))
        return reader.option("subscribe", self._topic).load().transform(places_of)


def in_order(rows: DataFrame) -> DataFrame:
    """One task has all of a partition: what came from it stays in order."""
    return rows.repartition(TOPIC, PARTITION).sortWithinPartitions(*PLACE)


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


def _as_json(rows: DataFrame) -> Column:
    names = [each for each in rows.columns if not each.startswith("_") and each not in _OF_A_RECORD]
    return sf.to_json(sf.struct(*names))


def _is_bytes(kind: DataType | None) -> bool:
    return isinstance(kind, BinaryType | StringType)
