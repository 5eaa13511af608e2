"""Processes that add steps are killed at any point: the table has each offset once.

TABLE_KILLS sets how often, SPARK_KILLS how often for the job on Spark.
"""

import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from snakka.pipeline.tables.opening import FORMATS, log_for
from snakka.pipeline.tables.table import TableOptions
from tests.compat.java_oracle import require
from tests.pipeline.killing import Job, wait_for_progress, wait_until_done
from tests.pipeline.tables.committer import Committer
from tests.pipeline.tables.writing_here import PIPELINE, WHERE

KILLS = int(os.environ.get("TABLE_KILLS", "2"))
SPARK_KILLS = int(os.environ.get("SPARK_KILLS", "1"))
STEP = 5
SPARK_STEP = 1000
JOB = "tests.pipeline.tables.append_job"
NEVER = 1 << 40
RUN_S_MAX = 1.5


@pytest.mark.parametrize("name", FORMATS)
def test_each_offset_is_there_once_whenever_the_process_is_killed(
    tmp_path: Path, name: str
) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    options = TableOptions(name, str(tmp_path / "t"))
    for _ in range(KILLS):
        with Committer(options, NEVER, STEP) as process:
            process.begin()
            time.sleep(rng.random() * RUN_S_MAX)
            process.kill()
    reached = (log_for(options).find_offsets(PIPELINE) or {WHERE: 0})[WHERE]
    assert reached % STEP == 0
    with Committer(options, reached + 3 * STEP, STEP) as process:
        process.begin()
        assert len(process.finish()) == 3
    assert offsets_of(options) == Counter(range(reached + 3 * STEP))


def test_each_offset_is_there_once_whenever_spark_is_killed(tmp_path: Path) -> None:
    require("java")
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    end = SPARK_STEP * (3 * SPARK_KILLS + 3)
    command = [sys.executable, "-m", JOB, str(tmp_path), str(end), str(SPARK_STEP)]
    job = Job(command, tmp_path / "job.log")
    try:
        for at in range(SPARK_KILLS):
            wait_for_progress(job, rng)
            if at % 2:
                job.kill_worker(rng)
            else:
                job.kill_driver()
        wait_until_done(job)
    finally:
        job.close()
    print("starts", job.starts)
    for name in FORMATS:
        options = TableOptions(name, str(tmp_path / name))
        assert log_for(options).find_offsets(PIPELINE) == {WHERE: end}
        assert offsets_of(options) == Counter(range(end))


def offsets_of(options: TableOptions) -> Counter[int]:
    """What the files of the last version have."""
    version = log_for(options).find_version()
    assert version is not None
    written = len(list(Path(options.location).rglob("*-*.parquet")))
    print(options.format, len(version.files), "files of", written)
    files = [pq.ParquetFile(each.path).read() for each in version.files]
    return Counter(at for each in files for at in each["offset"].to_pylist())
