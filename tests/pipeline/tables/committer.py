"""A process that adds steps to a table, without Spark, until it has come to the end or is killed.

    python committer.py FORMAT LOCATION END STEPS [MODE]

It waits for a line before it begins. Each step that it has added it tells by a line `added BEGIN`,
one that somebody else was faster with by `stale BEGIN`. In the mode `follow` it goes on from where
the table is; in the mode `die` it kills itself when the files of a step are written, before the
commit.
"""

import os
import signal
import sys

from pyspark.sql.types import LongType, StructField, StructType

from snakka.pipeline.errors import StaleCommitError
from snakka.pipeline.tables.opening import log_for
from snakka.pipeline.tables.table import TableOptions
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, numbers, step, write_here

SCHEMA = StructType([StructField("offset", LongType())])


def main(format_name: str, location: str, end: str, size: str, mode: str = "follow") -> None:
    log = log_for(TableOptions(format_name, location))
    say("ready")
    sys.stdin.readline()
    while (begin := (log.find_offsets(PIPELINE) or {WHERE: 0})[WHERE]) < int(end):
        until = min(begin + int(size), int(end))
        next_step = step(begin, until)
        files = write_here(numbers(begin, until), log.fit(SCHEMA, next_step).layout)
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
