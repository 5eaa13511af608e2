"""What an operator asks of all segments at once, as DataFrames; Spark reads them in parallel.

A task reads whole segments, so the directories have to be there, under the same names, wherever
tasks run. Sizes are on disk for batches, and before compression for records.

Not here: listing and reading segments (listing.py, reading.py).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from snakka.pipeline.segments.listing import SegmentFile, deal
from snakka.pipeline.segments.reading import (
    BATCH_SCHEMA,
    RECORD_SCHEMA,
    REPORT_SCHEMA,
    SEGMENT_DDL,
    Rows,
    batch_rows,
    record_rows,
    report_rows,
)

SLICES_PER_CORE: Final = 4
_PARTITION: Final = ("topic", "partition")


def usage(spark: SparkSession, segments: Sequence[SegmentFile]) -> DataFrame:
    """By topic: what is there, how old it is, how it is compressed, how even its partitions are."""
    batches = _read(spark, segments, batch_rows, BATCH_SCHEMA)
    partitions = batches.groupBy(*_PARTITION).agg(
        F.sum("size_bytes").alias("size_bytes"),
        F.sum("record_count").alias("record_count"),
        F.countDistinct("stem").alias("segment_count"),
        F.countDistinct(F.when(F.col("is_damaged"), F.col("stem"))).alias("damaged_count"),
        F.min(F.when(F.col("max_timestamp_ms") >= 0, F.col("max_timestamp_ms"))).alias("oldest"),
        F.max("max_timestamp_ms").alias("newest"),
        F.collect_set("codec").alias("codecs"),
    )
    return (
        partitions.groupBy("topic")
        .agg(
            F.count("*").alias("partition_count"),
            F.sum("segment_count").alias("segment_count"),
            F.sum("record_count").alias("record_count"),
            F.sum("size_bytes").alias("size_bytes"),
            F.max("size_bytes").alias("largest_partition_bytes"),
            (F.max("size_bytes") / F.avg("size_bytes")).alias("skew"),
            F.timestamp_millis(F.min("oldest")).alias("oldest"),
            F.timestamp_millis(F.max("newest")).alias("newest"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("codecs")))).alias("codecs"),
            F.sum("damaged_count").alias("damaged_segment_count"),
        )
        .orderBy(F.desc("size_bytes"), "topic")
    )


def key_skew(spark: SparkSession, segments: Sequence[SegmentFile], top: int) -> DataFrame:
    """By topic: the keys with the most records, and their share of its records."""
    records = _read(spark, segments, record_rows, RECORD_SCHEMA)
    by_key = (
        records.where("key IS NOT NULL")
        .groupBy("topic", "key")
        .agg(F.count("*").alias("record_count"), F.sum("size_bytes").alias("size_bytes"))
    )
    of_topic = Window.partitionBy("topic")
    rank = F.row_number().over(of_topic.orderBy(F.desc("record_count"), "key"))
    total = F.sum("record_count").over(of_topic)
    return (
        by_key.withColumn("key_count", F.count("*").over(of_topic))
        .withColumn("share", F.col("record_count") / total)
        .withColumn("rank", rank)
        .where(F.col("rank") <= top)
        .select("topic", "key_count", "rank", "key", "record_count", "size_bytes", "share")
        .orderBy("topic", "rank")
    )


def compaction_gain(spark: SparkSession, segments: Sequence[SegmentFile]) -> DataFrame:
    """By topic: what would be left if only the last record of each key were kept.

    Tombstones count as gone, as they are some time after. Records without a key count as kept: the
    topic cannot be compacted.
    """
    records = _read(spark, segments, record_rows, RECORD_SCHEMA)
    has_key = F.col("key").isNotNull()
    is_kept = has_key & ~F.col("is_last_tombstone")
    by_key = records.groupBy(*_PARTITION, "key").agg(
        F.count_if(~F.col("is_damaged")).alias("record_count"),
        F.sum("size_bytes").alias("size_bytes"),
        F.max_by("size_bytes", "offset").alias("last_size_bytes"),
        F.max_by("is_tombstone", "offset").alias("is_last_tombstone"),
        F.count_if("is_damaged").alias("damaged_count"),
    )
    last_bytes = F.when(is_kept, F.col("last_size_bytes")).otherwise(0)
    kept_bytes = F.sum(F.when(has_key, last_bytes).otherwise(F.col("size_bytes")))
    return (
        by_key.groupBy("topic")
        .agg(
            F.sum("record_count").alias("record_count"),
            F.sum(F.when(~has_key, F.col("record_count")).otherwise(0)).alias("keyless_count"),
            F.count_if(has_key).alias("key_count"),
            F.count_if(is_kept).alias("kept_count"),
            F.sum("size_bytes").alias("size_bytes"),
            kept_bytes.alias("kept_bytes"),
            F.sum("damaged_count").alias("damaged_segment_count"),
        )
        .withColumn("gain", 1 - F.col("kept_bytes") / F.nullif("size_bytes", F.lit(0)))
        .orderBy(F.desc(F.col("size_bytes") - F.col("kept_bytes")), "topic")
    )


def check(spark: SparkSession, segments: Sequence[SegmentFile]) -> DataFrame:
    """By segment: what it holds, and a list of what is wrong with it and where.

    To what a segment shows by itself comes whether it begins where the one before it ended; offsets
    between the two are missing, which compaction and damage have in common.
    """
    reports = _read(spark, segments, report_rows, REPORT_SCHEMA)
    in_order = Window.partitionBy(*_PARTITION, _directory()).orderBy("base_offset")
    before = F.lag("next_offset").over(in_order)
    overlap = F.struct(
        F.concat("stem", F.lit(".log")).alias("path"),
        F.lit(0).cast("bigint").alias("position"),
        F.concat(F.lit("the segment before it ends at offset "), "before").alias("reason"),
    )
    gap = F.coalesce(F.greatest(F.col("base_offset") - F.col("before"), F.lit(0)), F.lit(0))
    is_overlapped = F.col("before") > F.col("base_offset")
    return (
        reports.withColumn("before", before)
        .withColumn("missing_offset_count", F.col("missing_offset_count") + gap)
        .withColumn(
            "problems",
            F.when(is_overlapped, F.array_append("problems", overlap)).otherwise(F.col("problems")),
        )
        .drop("before")
        .orderBy(*_PARTITION, "base_offset")
    )


def _directory() -> Any:
    return F.regexp_replace("stem", r"/[^/]*$", "")


def _read(
    spark: SparkSession,
    segments: Sequence[SegmentFile],
    rows: Callable[[Iterable[pa.RecordBatch]], Rows],
    schema: pa.Schema,
) -> DataFrame:
    cores = spark.sparkContext.defaultParallelism
    slices = max(1, min(len(segments), cores * SLICES_PER_CORE))
    dealt = spark.sparkContext.parallelize(deal(segments, slices), slices)
    listed = spark.createDataFrame(dealt, SEGMENT_DDL)
    return listed.mapInArrow(rows, from_arrow_schema(schema))
