"""A broker that is away while a pipeline runs: the run goes on by itself, and nothing is lost.

BROKER_AWAY_S sets for how long.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession

from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import audited, orders
from tests.pipeline.topics import make_topic, produce

AWAY_S = float(os.environ.get("BROKER_AWAY_S", "4"))
RECORDS = 500  # before, and as many after
PATIENCE_S = 240
DECLARATION = """
name = "patient"
checkpoint = "checkpoint"

[options]
bootstrap.servers = "{bootstrap}"

[[sources]]
topics = ["in"]
[sources.value]
format = "json"
schema = "id BIGINT NOT NULL, name STRING"

[table]
location = "table"
"""


class Run:
    """`snakka pipeline run` until it is told to end, and the rows it has told of."""

    def __init__(self, file: Path) -> None:
        command = [sys.executable, "-m", "snakka", "pipeline", "run", str(file), "--json"]
        self.log = file.with_suffix(".log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--master", "local[2]"], stdout=subprocess.PIPE, stderr=log
            )
        self.rows = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.rows += json.loads(line)["rows"]

    def wait_for(self, rows: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.rows < rows:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, f"{self.rows} of {rows} rows"
            time.sleep(0.1)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


def test_a_run_waits_for_the_broker(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "patient.toml"
    with BrokerProcess(tmp_path / "broker") as broker:
        make_topic(broker.bootstrap, 1, "in")
        produce(broker.bootstrap, "in", orders(RECORDS))
        file.write_text(DECLARATION.format(bootstrap=broker.bootstrap))
        run = Run(file)
        try:
            run.wait_for(RECORDS)
            broker.kill()
            time.sleep(AWAY_S)
            broker.start()
            produce(broker.bootstrap, "in", orders(RECORDS, RECORDS))
            run.wait_for(2 * RECORDS)
            assert run.end() == 0
        finally:
            run.process.kill()
        (partition,) = audited(spark, file)
    assert (partition.record_count, partition.row_count) == (2 * RECORDS, 2 * RECORDS)
