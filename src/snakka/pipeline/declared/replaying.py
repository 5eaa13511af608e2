"""A part of a pipeline once more, to another topic: its sources' records, or its table's rows.

Offsets are those of the sources, as in the options startingOffsets and endingOffsets. All of it
becomes visible at once. Records of one partition stay in order.
"""

from typing import Final

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

from snakka.pipeline.declared.declaration import Pipeline
from snakka.pipeline.declared.decoding import OFFSET, PLACE
from snakka.pipeline.declared.places import is_of
from snakka.pipeline.declared.planning import read_topics
from snakka.pipeline.declared.targets import target_of
from snakka.pipeline.declared.topic_target import in_order, records_of
from snakka.pipeline.errors import OptionError
from snakka.pipeline.offsets import Offsets, read_numbers
from snakka.pipeline.option_values import client_options

EVERYWHERE: Final = ("earliest", "latest")


def replay_records(
    spark: SparkSession, pipeline: Pipeline, topic: str, starting: str, ending: str
) -> int:
    """The records of the sources, with the same keys, values and headers; how many they are."""
    records = read_topics(
        spark,
        pipeline,
        subscribe=",".join(pipeline.topics),
        startingOffsets=starting,
        endingOffsets=ending,
    )
    placed = records.selectExpr(
        *(f"{each.removeprefix('_')} AS {each}" for each in PLACE), "key", "value", "headers"
    )
    return _write(placed, pipeline, topic)


def replay_rows(
    spark: SparkSession, pipeline: Pipeline, topic: str, starting: str, ending: str
) -> int:
    """The rows of the target, as a pipeline to a topic would write them; how many they are."""
    rows = target_of(pipeline).rows(spark)
    for where, offset in _bounds("starting", starting).items():
        rows = rows.where(~is_of(where) | (sf.col(OFFSET) >= offset))
    for where, offset in _bounds("ending", ending).items():
        rows = rows.where(~is_of(where) | (sf.col(OFFSET) < offset))
    return _write(rows, pipeline, topic)


def _write(rows: DataFrame, pipeline: Pipeline, topic: str) -> int:
    if topic in pipeline.topics:
        raise OptionError(f"topic {topic}: is one of the sources; what is replayed would come back")
    counting = Observation()
    counted = records_of(in_order(rows)).observe(counting, sf.count("*").alias("rows"))
    options = client_options(pipeline.options)
    counted.write.format("snakka").mode("append").options(**options, topic=topic).save()
    count: int = counting.get["rows"]
    return count


def _bounds(option: str, text: str) -> Offsets:
    """Offsets by partition, without those that say everywhere."""
    if text in EVERYWHERE:
        return {}
    try:
        named = read_numbers(text)
    except ValueError as error:
        raise OptionError(f"--{option}={text}: {error}") from None
    return {where: offset for where, offset in named.items() if offset >= 0}
