"""Where a copy came from, as its headers say."""

from pyspark.sql import DataFrame

from snakka.pipeline.declared.decoding import OFFSET, PARTITION, TOPIC
from snakka.pipeline.declared.headers import header


def places_of(records: DataFrame) -> DataFrame:
    """The coordinates that records say they come from."""
    return records.select(
        header("topic").alias(TOPIC),
        header("partition").cast("int").alias(PARTITION),
        header("offset").cast("long").alias(OFFSET),
    )
