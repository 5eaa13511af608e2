"""A query's checkpoint directory: how far each of its micro-batches goes, and whether to trust it.

The target's own offsets are the truth. A checkpoint that says the same serves Spark to go on where
it was; any other one (of another machine, restored from a backup, older or newer than the table)
is put aside, and the query starts anew from the target's offsets. Without a declared place it is a
directory for this run only.
"""

import json
import time
from typing import Any, Final

from pyspark.sql import SparkSession

from snakka.pipeline.offsets import Offsets, from_json

_VERSION_LINE: Final = "v1"
_SOURCE_LINE: Final = 2  # after the version and what Spark notes of the batch


class ForeignCheckpointError(Exception):
    """A log of offsets that is not that of a pipeline with one source."""


class Checkpoint:
    """A directory on any file system that Spark can write to."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        # Spark offers no other way to the file systems that it knows.
        jvm: Any = spark.sparkContext._jvm
        self._jvm = jvm
        self._path = self._jvm.org.apache.hadoop.fs.Path(location)
        self._files = self._path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        self.location = location

    def end_of(self, batch_id: int) -> Offsets:
        """Where a micro-batch ends that Spark has planned."""
        lines = self._read("offsets", batch_id).splitlines()
        if lines[:1] != [_VERSION_LINE] or len(lines) != _SOURCE_LINE + 1:
            raise ForeignCheckpointError(f"{self.location}/offsets/{batch_id}: has no one source")
        return from_json(json.loads(lines[_SOURCE_LINE]))

    def planned(self) -> list[int]:
        """The micro-batches whose ends are known, oldest first."""
        return self._batch_ids("offsets")

    def agrees_with(self, offsets: Offsets | None, topics: tuple[str, ...]) -> bool:
        """Whether Spark would go on from just there."""
        planned = self.planned()
        if not planned:
            return True
        if offsets is None:
            return False
        *_, last = planned
        candidates = [last] if last in self._batch_ids("commits") else [last - 1, last]
        try:
            ends = [self.end_of(each) for each in candidates if each in planned]
        except (ForeignCheckpointError, ValueError):
            return False
        return any(holds(offsets, end) and _is_of(end, topics) for end in ends)

    def put_aside(self) -> str:
        """Renames the directory; its new name."""
        aside = f"{self.location}.aside-{time.time_ns() // 1_000_000}"
        if not self._files.rename(self._path, self._jvm.org.apache.hadoop.fs.Path(aside)):
            raise OSError(f"{self.location} cannot be renamed to {aside}")
        return aside

    def _batch_ids(self, log: str) -> list[int]:
        directory = self._jvm.org.apache.hadoop.fs.Path(self._path, log)
        if not self._files.exists(directory):
            return []
        names = [each.getPath().getName() for each in self._files.listStatus(directory)]
        return sorted(int(each) for each in names if each.isdecimal())

    def _read(self, log: str, batch_id: int) -> str:
        file = self._jvm.org.apache.hadoop.fs.Path(self._path, f"{log}/{batch_id}")
        stream = self._files.open(file)
        try:
            text: str = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return text


def holds(offsets: Offsets, end: Offsets) -> bool:
    """Whether offsets are just those of an end, whatever other partitions they have."""
    return all(offsets.get(where) == to for where, to in end.items())


def _is_of(end: Offsets, topics: tuple[str, ...]) -> bool:
    return {where.topic for where in end} <= set(topics)
