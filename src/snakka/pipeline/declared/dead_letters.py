"""Records that a pipeline rejects: to a topic of their own, each once, or a halt at the first.

A dead letter has the key, value and headers of its record, and headers that tell why and whence.
How far each source has been gone through is kept with the sink's application, in the transaction
that makes the dead letters visible. So a step that is repeated, be it under another checkpoint and
with other ends, adds only what is not there.

The letters of a step are written before its rows: were it the other way round, a crash in between
would lose them.
"""

from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from snakka.client.records import TopicPartition
from snakka.pipeline.declared.applications import Application
from snakka.pipeline.declared.decoding import (
    OFFSET,
    PARTITION,
    PLACE,
    REASON,
    RECORD,
    TIMESTAMP,
    TOPIC,
)
from snakka.pipeline.declared.headers import with_headers
from snakka.pipeline.declared.places import is_of
from snakka.pipeline.errors import RejectedRecordError
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.tables.table import Step


class Rejects(Protocol):
    """What is done with rejected records."""

    def write(self, rejected: DataFrame, step: Step) -> int:
        """How many there are in the step."""


class DeadLetters:
    """The topic of one pipeline."""

    def __init__(self, topic: str, application: Application) -> None:
        self._topic = topic
        self._application = application

    def write(self, rejected: DataFrame, step: Step) -> int:
        """Adds what is not there yet; how many records of the step are rejected in all."""
        count = rejected.count()
        if count:
            known = self._application.take_over()
            covered = known or {}
            fresh = _is_new(
                rejected, {p: to for p, to in covered.items() if to > step.begin.get(p, 0)}
            )
            ends = {**covered, **{p: max(to, covered.get(p, to)) for p, to in step.end.items()}}
            self._application.write(letters_of(fresh, step.pipeline), self._topic, known, ends)
        return count


class Halt:
    """No topic for them: the first one stops the pipeline."""

    def write(self, rejected: DataFrame, step: Step) -> int:
        first = rejected.orderBy(*PLACE).select(*PLACE, REASON).head()
        if first is not None:
            where = TopicPartition(first[0], first[1])
            raise RejectedRecordError(f"offset {first[2]} of {where}", first[3])
        return 0


def letters_of(rejected: DataFrame, pipeline: str) -> DataFrame:
    """Records for the topic."""
    record = sf.col(RECORD)
    told = {
        "reason": sf.col(REASON),
        "topic": sf.col(TOPIC),
        "partition": sf.col(PARTITION),
        "offset": sf.col(OFFSET),
        "timestamp": sf.unix_millis(TIMESTAMP),
        "pipeline": sf.lit(pipeline),
    }
    return rejected.select(
        record["key"].alias("key"),
        record["value"].alias("value"),
        with_headers(record["headers"], told).alias("headers"),
    )


def _is_new(rejected: DataFrame, covered: Offsets) -> DataFrame:
    """The rejected records without those from before these offsets."""
    for where, end in covered.items():
        rejected = rejected.where(~(is_of(where) & (sf.col(OFFSET) < end)))
    return rejected
