"""Whether each record of the sources is in the target once, or a dead letter once: asked of Spark.

The pipeline's own decoding, transformation and checks say what is to become of each record that
its topic still has; that is joined with what is there, by topic, partition and offset. So a record
that the transformation filters out is no gap, nor is an offset that has no record: markers of
transactions, aborted records, what compaction removed. Of records that the topic has no more,
nothing can be said.

Not here: where rows are (target.py), telling it (cli/pipeline_audit.py).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import MapType

from snakka.client.records import TopicPartition
from snakka.pipeline.declared.declaration import Pipeline
from snakka.pipeline.declared.decoding import OFFSET, PARTITION, PLACE, TOPIC
from snakka.pipeline.declared.headers import header
from snakka.pipeline.declared.logs import SourceLogs
from snakka.pipeline.declared.places import is_of, places_of
from snakka.pipeline.declared.planning import Plan, plan, read_topics
from snakka.pipeline.declared.targets import target_of
from snakka.pipeline.errors import OptionError
from snakka.pipeline.offsets import OffsetRange, Offsets, to_json

_EXPECTED: Final = "expected_rows"
_FOUND: Final = "found_rows"
_REJECTED: Final = "rejected"
_LETTERS: Final = "letters"
_RECORD: Final = "is_record"
_EXPECTED_CONTENTS: Final = "expected_contents"
_FOUND_CONTENTS: Final = "found_contents"
_COUNTS: Final = (_RECORD, _EXPECTED, _FOUND, _REJECTED, _LETTERS)
_VERDICT: Final = "verdict"
_CHECKSUM_MODULUS: Final = 1 << 64
RANGES_MAX: Final = 1000

MISSING: Final = "missing"
DUPLICATE: Final = "duplicate"
UNEXPECTED: Final = "unexpected"
DIFFERENT: Final = "different"
MISSING_LETTER: Final = "no dead letter"
DUPLICATE_LETTER: Final = "duplicate dead letter"
UNEXPECTED_LETTER: Final = "unexpected dead letter"


class _Span(NamedTuple):
    """What is audited of a partition, and where its log ends: no row can be from beyond that."""

    range: OffsetRange
    log_end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Offsets in a row that are not as they should be."""

    what: str
    range: OffsetRange
    record_count: int


@dataclass(frozen=True, slots=True)
class PartitionAudit:
    """What was counted in the offsets of one partition; a filtered record is neither."""

    range: OffsetRange
    record_count: int
    row_count: int
    rejected_count: int
    checksum: int  # of all rows, in any order


@dataclass(frozen=True, slots=True)
class Audit:
    partitions: tuple[PartitionAudit, ...]
    findings: tuple[Finding, ...]


def audit(spark: SparkSession, pipeline: Pipeline, *, with_contents: bool = False) -> Audit:
    """Compares all of it; with contents, what is in the rows too."""
    if not pipeline.has_coordinates:
        raise OptionError("coordinates=false: rows without coordinates cannot be audited")
    made, target = plan(spark, pipeline), target_of(pipeline)
    # The pipeline may be at work: rows are looked at after the offsets, and the logs after both.
    offsets = target.find_offsets()
    if offsets is None:
        raise OptionError(f"{pipeline.name} has not written anything yet")
    rows = target.rows(spark)
    spans = _spans(pipeline, offsets, rows)
    compared = _compared(spark, made, spans, rows, with_contents=with_contents).persist()
    try:
        return Audit(_counted(compared, spans), _findings(compared))
    finally:
        compared.unpersist()


def _spans(pipeline: Pipeline, offsets: Offsets, rows: DataFrame) -> list[_Span]:
    """What of the sources is both in the target and still in the logs."""
    logs = SourceLogs(pipeline)
    state = logs.state()
    try:
        declared = logs.find_start()
    except OptionError:  # partitions have come that are not named there: they are read whole
        declared = {}
    spans = []
    for where, end in sorted(offsets.items()):
        if where not in state.first:
            continue  # of a topic that is not read any more
        first, last = state.first[where], state.last[where]
        start = declared.get(where, first)
        if start >= end:  # it was the latest offset when the pipeline began
            start = _smallest(rows, where, end)
        start = max(first, start)
        spans.append(_Span(OffsetRange(where, start, max(start, min(end, last))), last))
    return spans


def _smallest(rows: DataFrame, where: TopicPartition, otherwise: int) -> int:
    of_partition = rows.where(is_of(where)).agg(sf.min(OFFSET)).head()
    assert of_partition is not None
    return otherwise if of_partition[0] is None else int(of_partition[0])


def _compared(
    spark: SparkSession,
    made: Plan,
    spans: list[_Span],
    rows: DataFrame,
    *,
    with_contents: bool,
) -> DataFrame:
    """A row for each offset that something is known of, with the verdict."""
    records = _records(spark, made, [each.range for each in spans])
    shaped = made.shape(made.decode(records))
    contents = _contents(shaped.kept, rows) if with_contents else sf.lit(0)
    parts = [
        records.select(
            *(sf.col(each.removeprefix("_")).alias(each) for each in PLACE),
            sf.lit(1).alias(_RECORD),
        ),
        _counted_rows(shaped.kept, _EXPECTED, _EXPECTED_CONTENTS, contents),
        _counted_rows(rows, _FOUND, _FOUND_CONTENTS, contents),
    ]
    if shaped.rejected is not None:
        parts.append(shaped.rejected.groupBy(*PLACE).agg(sf.lit(1).alias(_REJECTED)))
    letters = _letters(spark, made.pipeline)
    if letters is not None:
        parts.append(letters.groupBy(*PLACE).agg(sf.count("*").alias(_LETTERS)))
    joined = reduce(lambda one, other: one.join(other, list(PLACE), "full"), parts)
    known = {
        each: sf.coalesce(sf.col(each) if each in joined.columns else sf.lit(None), sf.lit(0))
        for each in _COUNTS
    }
    return joined.withColumns(known).where(_within(spans)).withColumn(_VERDICT, _verdict(spans))


def _records(spark: SparkSession, made: Plan, ranges: list[OffsetRange]) -> DataFrame:
    starts = {each.where: each.start for each in ranges}
    ends = {each.where: each.end for each in ranges}
    return read_topics(
        spark,
        made.pipeline,
        assign=json.dumps(_assignment(starts)),
        startingOffsets=json.dumps(to_json(starts)),
        endingOffsets=json.dumps(to_json(ends)),
    )


def _assignment(offsets: Offsets) -> dict[str, list[int]]:
    return {
        topic: [int(each) for each in partitions] for topic, partitions in to_json(offsets).items()
    }


def _letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame | None:
    """The coordinates of the pipeline's dead letters."""
    if pipeline.dead_letter_topic is None:
        return None
    letters = read_topics(spark, pipeline, subscribe=pipeline.dead_letter_topic)
    return letters.where(header("pipeline") == pipeline.name).transform(places_of)


def _counted_rows(rows: DataFrame, count: str, sum_name: str, contents: Column) -> DataFrame:
    return rows.groupBy(*PLACE).agg(
        sf.count("*").alias(count), sf.sum(contents.cast("decimal(38,0)")).alias(sum_name)
    )


def _contents(kept: DataFrame, rows: DataFrame) -> Column:
    """A number for what is in a row, going by the columns that both sides have."""
    maps = {each.name for each in kept.schema.fields if isinstance(each.dataType, MapType)}
    both = sorted(set(kept.columns) & set(rows.columns) - maps)
    return sf.xxhash64(*both)


def _within(spans: list[_Span]) -> Column:
    """What the audit is about. Rows that came since are left out, and impossible ones are not."""
    offset = sf.col(OFFSET)
    return _any_of(
        is_of(each.range.where)
        & (offset >= each.range.start)
        & ((offset < each.range.end) | (offset >= each.log_end))
        for each in spans
    )


def _any_of(conditions: Iterable[Column]) -> Column:
    return reduce(lambda one, other: one | other, conditions, sf.lit(False))


def _verdict(spans: list[_Span]) -> Column:
    """What is wrong with an offset, or null."""
    expected, found = sf.col(_EXPECTED), sf.col(_FOUND)
    rejected, letters = sf.col(_REJECTED), sf.col(_LETTERS)
    is_there = sf.col(_RECORD) == 1
    is_beyond = _any_of(
        is_of(each.range.where) & (sf.col(OFFSET) >= each.log_end) for each in spans
    )
    return (
        sf.when(is_there & (found < expected), sf.lit(MISSING))
        .when(is_there & (found > expected) & (expected > 0), sf.lit(DUPLICATE))
        .when((is_there | is_beyond) & (found > expected), sf.lit(UNEXPECTED))
        .when(sf.col(_EXPECTED_CONTENTS) != sf.col(_FOUND_CONTENTS), sf.lit(DIFFERENT))
        .when(is_there & (letters < rejected), sf.lit(MISSING_LETTER))
        .when(letters > 1, sf.lit(DUPLICATE_LETTER))
        .when(is_there & (letters > rejected), sf.lit(UNEXPECTED_LETTER))
    )


def _counted(compared: DataFrame, spans: list[_Span]) -> tuple[PartitionAudit, ...]:
    place_hash = sf.xxhash64(*PLACE).cast("decimal(38,0)") * sf.col(_FOUND)
    counts = compared.groupBy(TOPIC, PARTITION).agg(
        *(sf.sum(each).alias(each) for each in (_RECORD, _FOUND, _REJECTED)),
        sf.sum(sf.coalesce(_FOUND_CONTENTS, sf.lit(0)) + place_hash).alias("checksum"),
    )
    rows = {TopicPartition(row[TOPIC], row[PARTITION]): row for row in counts.collect()}
    return tuple(
        PartitionAudit(
            range=each,
            record_count=rows[each.where][_RECORD],
            row_count=rows[each.where][_FOUND],
            rejected_count=rows[each.where][_REJECTED],
            checksum=int(rows[each.where]["checksum"]) % _CHECKSUM_MODULUS,
        )
        if each.where in rows
        else PartitionAudit(each, 0, 0, 0, 0)
        for each in (span.range for span in spans)
    )


def _findings(compared: DataFrame) -> tuple[Finding, ...]:
    """Offsets with the same verdict, one after another, as ranges."""
    wrong = compared.where(sf.col(_VERDICT).isNotNull()).select(*PLACE, _VERDICT)
    in_order = Window.partitionBy(TOPIC, PARTITION, _VERDICT).orderBy(OFFSET)
    islands = wrong.withColumn("island", sf.col(OFFSET) - sf.row_number().over(in_order))
    found = islands.groupBy(TOPIC, PARTITION, _VERDICT, "island").agg(
        sf.min(OFFSET).alias("first"), sf.max(OFFSET).alias("last"), sf.count("*").alias("count")
    )
    return tuple(
        Finding(
            row[_VERDICT],
            OffsetRange(TopicPartition(row[TOPIC], row[PARTITION]), row["first"], row["last"] + 1),
            row["count"],
        )
        for row in found.orderBy(TOPIC, PARTITION, "first").limit(RANGES_MAX).collect()
    )
