"""What a pipeline asks of where its rows go, be it a table or a topic.

A target keeps how far the sources are in it. Not here: which there are (targets.py).
"""

from typing import NamedTuple, Protocol

from pyspark.sql import DataFrame, SparkSession

from snakka.pipeline.offsets import Offsets
from snakka.pipeline.tables.table import Step


class Written(NamedTuple):
    """What a step has added."""

    row_count: int
    version: int | None = None
    file_count: int | None = None


class Target(Protocol):
    def find_offsets(self) -> Offsets | None:
        """How far the sources are in it; None where nothing was written yet."""

    def take_over(self) -> Offsets | None:
        """The same, for a run that begins: an earlier one cannot change it any more unseen."""

    def append(self, rows: DataFrame, step: Step) -> Written:
        """Adds the rows and moves the offsets at once; StaleCommitError where others have."""

    def rows(self, spark: SparkSession) -> DataFrame:
        """All rows that are there, of a topic their coordinates alone."""
