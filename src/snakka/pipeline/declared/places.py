"""Where rows came from: their coordinates, of copies as the headers say."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from snakka.client.records import TopicPartition
from snakka.pipeline.declared.decoding import OFFSET, PARTITION, TOPIC
from snakka.pipeline.declared.headers import header


def places_of(records: DataFrame) -> DataFrame:
    """The coordinates that records say they come from."""
    return records.select(
        header("topic").alias(TOPIC),
        header("partition").cast("int").alias(PARTITION),
        header("offset").cast("long").alias(OFFSET),
    )


def is_of(where: TopicPartition) -> Column:
    """Whether a row came from a partition."""
    return (sf.col(TOPIC) == where.topic) & (sf.col(PARTITION) == where.partition)
