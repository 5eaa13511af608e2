"""A Spark job that appends steps to a table of each format, and compacts them now and then.

    python -m tests.pipeline.tables.append_job DIRECTORY END SIZE

It goes on from where the tables are, and writes a dot for each round over all of them.
"""

import sys

from pyspark.sql import SparkSession

from snakka.pipeline.session import spark_session
from snakka.pipeline.tables.opening import FORMATS, table_for
from snakka.pipeline.tables.table import Table, TableOptions
from tests.pipeline.tables.writing_here import PIPELINE, WHERE, step

SETTINGS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
# A task whose Python worker is killed is tried again.
MASTER = "local[2,4]"
ROUNDS_PER_COMPACTION = 2
TARGET_BYTES = 1 << 20


def main(directory: str, end: str, size: str) -> None:
    spark = spark_session("append", MASTER, SETTINGS)
    spark.sparkContext.setLogLevel("OFF")
    tables = [table_for(TableOptions(name, f"{directory}/{name}")) for name in FORMATS]
    rounds = 0
    while sum(append(spark, each, int(end), int(size)) for each in tables):
        rounds += 1
        if rounds % ROUNDS_PER_COMPACTION == 0:
            for each in tables:
                each.compact(spark, TARGET_BYTES)
        sys.stdout.write(".")
        sys.stdout.flush()


def append(spark: SparkSession, table: Table, end: int, size: int) -> bool:
    """Adds the next step, unless the table is complete."""
    begin = (table.find_offsets(PIPELINE) or {WHERE: 0})[WHERE]
    if begin >= end:
        return False
    until = min(begin + size, end)
    rows = spark.range(begin, until, 1, 2).withColumnRenamed("id", "offset")
    table.append(rows, step(begin, until))
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
