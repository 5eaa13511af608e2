"""A process that adds steps to a table, without Spark, until it has come to the end or is killed.

    python -m tests.pipeline.tables.committer FORMAT LOCATION END SIZE [die]

It waits for a line before it begins, and goes on from where the table is. Each step that it has
added it tells by a line `added BEGIN`, one that somebody else was faster with by `stale BEGIN`.
With `die` it kills itself when the files of a step are written, before the commit.
"""

import os
import signal
import subprocess
import sys

from pyspark.sql.types import LongType, StructField, StructType

from snakka.pipeline.errors import StaleCommitError
from snakka.pipeline.tables.opening import log_for
from snakka.pipeline.tables.table import TableOptions
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, numbers, step, write_here

PATIENCE_S = 120
SCHEMA = StructType([StructField("offset", LongType())])


class Committer:
    """Such a process, for as long as it is needed."""

    def __init__(self, options: TableOptions, end: int, size: int, *mode: str) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.pipeline.tables.committer"),
                *(options.format, options.location, str(end), str(size), *mode),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Committer":
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        self._process.kill()

    def is_running(self) -> bool:
        return self._process.poll() is None

    def finish(self, status: int = 0) -> list[str]:
        """What it has told."""
        told, _ = self._process.communicate(timeout=PATIENCE_S)
        assert self._process.returncode == status
        return told.splitlines()


def main(format_name: str, location: str, end: str, size: str, mode: str = "") -> None:
    log = log_for(TableOptions(format_name, location))
    say("ready")
    sys.stdin.readline()
    while (begin := (log.find_offsets(PIPELINE) or {WHERE: 0})[WHERE]) < int(end):
        until = min(begin + int(size), int(end))
        next_step = step(begin, until)
        try:
            shape = log.fit(SCHEMA, next_step)
        except StaleCommitError:
            continue  # nothing was written
        files = write_here(numbers(begin, until), shape.layout)
        if mode == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            log.add(files, next_step)
        except StaleCommitError:
            say(f"stale {begin}")
        else:
            say(f"added {begin}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
