"""What a pipeline asks of a table, whatever format it has.

How far each partition of the sources is in the table is part of the very commit that adds the rows.
A pipeline whose checkpoint is lost, old or of another machine resumes from there, and two runs of
it at once cannot both add the same offsets: the second commit is refused.

Not here: the formats (delta.py, iceberg.py, parquet.py), where the rows come from.
"""

from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from snakka.pipeline.offsets import Offsets


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is declared; `properties` are those of its format, such as Iceberg's catalog."""

    format: str
    location: str
    partition_by: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One micro-batch of a pipeline: its sources from `begin` on and before `end`."""

    pipeline: str
    begin: Offsets
    end: Offsets


@dataclass(frozen=True, slots=True)
class Added:
    """What one commit has added."""

    version: int
    row_count: int
    file_count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Swept:
    """What upkeep has done: files that were taken out and files that came in their place."""

    removed_file_count: int
    added_file_count: int
    removed_bytes: int


class Table(Protocol):
    """A table, which need not exist yet."""

    @property
    def options(self) -> TableOptions: ...

    def find_offsets(self, pipeline: str) -> Offsets | None:
        """How far the pipeline is in the table; None where it has never written to it."""

    def append(self, rows: DataFrame, step: Step) -> Added:
        """Adds the rows and moves the offsets in one commit, and makes the table if need be.

        A column that is new is added to the table; a change that would not fit the rows that are
        there raises SchemaError, which names the field. Where the table's offsets are not those
        that the step begins at, StaleCommitError is raised and nothing is added.
        """

    def read(self, spark: SparkSession) -> DataFrame:
        """All rows, as of now."""

    def compact(self, spark: SparkSession, target_bytes: int) -> Swept:
        """Puts small files together, while others may append."""

    def expire(self, older_than_ms: int) -> Swept:
        """Forgets the versions from before a moment, and deletes what only they had."""

    def sweep(self, older_than_ms: int) -> Swept:
        """Deletes files from before a moment that no version has: what was left by a killed run."""
