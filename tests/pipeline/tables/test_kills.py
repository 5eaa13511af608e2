"""Processes that add steps are killed at any point: the table has each offset once.

TABLE_KILLS sets how often.
"""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from snakka.pipeline.tables.opening import FORMATS, log_for
from snakka.pipeline.tables.table import TableOptions
from tests.pipeline.tables.committer import Committer
from tests.pipeline.tables.writing_here import PIPELINE, WHERE

KILLS = int(os.environ.get("TABLE_KILLS", "2"))
STEP = 5
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
    version = log_for(options).find_version()
    assert version is not None
    print("steps", len(version.files), "files", len(list(tmp_path.rglob("*-*.parquet"))))
    files = [pq.ParquetFile(each.path).read() for each in version.files]
    found = Counter(at for each in files for at in each["offset"].to_pylist())
    assert found == Counter(range(reached + 3 * STEP))
