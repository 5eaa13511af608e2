"""A table of Parquet files: what all formats have in common, on top of the log of one of them.

Spark does the work on rows, and a format's log says which files there are. Files are written before
they are committed, so nothing that is read ever changes, and a killed run leaves only files that
nobody knows (sweep). Whoever commits second looks at the offsets again: that is each log's duty.

Not here: the logs (delta.py, iceberg.py, parquet.py).
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Final, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from snakka.pipeline.errors import OptionError, StaleCommitError
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.tables.files import delete, find_older
from snakka.pipeline.tables.packing import Sized, pack
from snakka.pipeline.tables.table import Added, Step, Swept, TableOptions
from snakka.pipeline.tables.writing import DataFile, Layout, write_files

# A compaction commits this many new files at once: what is killed later on is not lost.
BINS_PER_COMMIT: Final = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table, and how files are written that have them."""

    schema: StructType
    layout: Layout


@dataclass(frozen=True, slots=True)
class Version:
    """What is in a table at some time."""

    shape: Shape
    files: Sequence[Sized]


class TableLog(Protocol):
    """Which files and offsets a table has, in one format."""

    def find_offsets(self, pipeline: str) -> Offsets | None: ...

    def find_version(self) -> Version | None:
        """The last version; None where there is no table yet."""

    def fit(self, rows: StructType, step: Step) -> Shape:
        """Makes the table, or adds to it, so that it can hold a step; it holds none of it yet.

        A step that is stale already raises StaleCommitError before anything is done for it; what
        counts is that add() looks again.
        """

    def add(self, files: Sequence[DataFile], step: Step) -> int:
        """Commits files and offsets as one version, or raises StaleCommitError."""

    def replace(self, old: Sequence[Sized], new: Sequence[DataFile]) -> bool:
        """Commits files that have the rows of old ones; False where one of those is gone."""

    def expire(self, older_than_ms: int) -> Swept: ...

    def sweepable(self) -> Sequence[str]:
        """Patterns, below the location, of the files that belong to versions."""

    def known_files(self) -> set[str]:
        """The files of all versions."""


class FileTable:
    """A table of some format."""

    def __init__(self, options: TableOptions, log: TableLog) -> None:
        self._options = options
        self._log = log
        self._is_checked = False

    @property
    def options(self) -> TableOptions:
        return self._options

    def find_offsets(self, pipeline: str) -> Offsets | None:
        return self._log.find_offsets(pipeline)

    def append(self, rows: DataFrame, step: Step) -> Added:
        self._check_location()
        shape = self._log.fit(rows.schema, step)
        files = write_files(rows.to(shape.schema), shape.layout)
        try:
            number = self._log.add(files, step)
        except StaleCommitError:
            _discard(files, shape)
            raise
        return Added(
            number,
            sum(each.row_count for each in files),
            len(files),
            sum(each.size_bytes for each in files),
        )

    def read(self, spark: SparkSession) -> DataFrame:
        version = self._get_version()
        return read_files(spark, version.files, version.shape)

    def compact(self, spark: SparkSession, target_bytes: int) -> Swept:
        version = self._get_version()
        bins = pack(version.files, target_bytes)
        done = Swept(0, 0, 0)
        for at in range(0, len(bins), BINS_PER_COMMIT):
            done = _sum(done, self._rewrite(spark, version.shape, bins[at : at + BINS_PER_COMMIT]))
        return done

    def expire(self, older_than_ms: int) -> Swept:
        self._get_version()
        return self._log.expire(older_than_ms)

    def sweep(self, older_than_ms: int) -> Swept:
        self._get_version()
        # In this order: what is committed between the two is known.
        found = find_older(self._options.location, self._log.sweepable(), older_than_ms)
        known = self._log.known_files()
        return delete(each for each in found if str(each) not in known)

    def _check_location(self) -> None:
        """A table is not made among files of something else: they would be swept one day."""
        location = self._options.location
        # In this order: who makes the table meanwhile does so before its files.
        has_files = not self._is_checked and any(Path(location).rglob("*.parquet"))
        if has_files and self._log.find_version() is None:
            raise OptionError(
                f"table location {location} has files that are of no {self._options.format}"
                " table: choose another directory"
            )
        self._is_checked = True

    def _get_version(self) -> Version:
        version = self._log.find_version()
        if version is None:
            raise FileNotFoundError(f"{self._options.location}: there is no table yet")
        return version

    def _rewrite(self, spark: SparkSession, shape: Shape, bins: Sequence[Sequence[Sized]]) -> Swept:
        """Writes a file for each bin, and puts them in the place of the small ones."""
        old = [each for files in bins for each in files]
        # Each bin is a partition of Spark's own, so that one task writes one file of it.
        rows = reduce(
            DataFrame.union, (read_files(spark, files, shape).coalesce(1) for files in bins)
        )
        new = write_files(rows, shape.layout)
        if sum(each.row_count for each in new) != sum(each.row_count or 0 for each in old):
            _discard(new, shape)
            raise RuntimeError(
                f"{self._options.location}: Spark did not read all rows of the files to be put"
                " together (see spark.sql.files.ignoreCorruptFiles); nothing was changed"
            )
        if not self._log.replace(old, new):
            _discard(new, shape)
            return Swept(0, 0, 0)
        return Swept(len(old), len(new), sum(each.size_bytes for each in old))


def read_files(spark: SparkSession, files: Sequence[Sized], shape: Shape) -> DataFrame:
    """The rows of files; a column that is in none of them is in their path, or null."""
    if not files:
        return spark.createDataFrame([], shape.schema)
    reader = spark.read.schema(shape.schema).option("basePath", shape.layout.directory)
    return reader.parquet(*(each.path for each in files)).to(shape.schema)


def _discard(files: Iterable[DataFile], shape: Shape) -> None:
    """Deletes what was written in vain."""
    delete(os.path.join(shape.layout.directory, each.path) for each in files)


def _sum(one: Swept, other: Swept) -> Swept:
    return Swept(
        one.removed_file_count + other.removed_file_count,
        one.added_file_count + other.added_file_count,
        one.removed_bytes + other.removed_bytes,
    )
