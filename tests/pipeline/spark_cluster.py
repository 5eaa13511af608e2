"""Spark's own cluster on this machine: a master and workers, each a process, on loopback."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import pyspark

from tests.compat.spark_connector import SHORT_LIVED

HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"
START_TIMEOUT_S = 60
_MASTER = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
_REGISTERED = "Registering worker"


class SparkCluster:
    """Ends with the block; `work` of each worker is where its executors were."""

    def __init__(self, directory: Path, workers: int) -> None:
        self._directory = directory
        self._workers = workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_HOME": str(HOME),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
        }
        self.master = ""

    def work(self, worker: int) -> Path:
        return self._directory / f"worker-{worker}"

    def __enter__(self) -> "SparkCluster":
        self._start("master", "master.Master", "--port", "0")
        self.master = self._wait_for(_MASTER)[0]
        for worker in range(self._workers):
            where = ["--work-dir", str(self.work(worker)), "--cores", "1", "--memory", "1g"]
            self._start(f"worker-{worker}.out", "worker.Worker", *where, self.master)
        self._wait_for(re.compile(_REGISTERED), self._workers)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait(START_TIMEOUT_S)

    def _start(self, name: str, main: str, *arguments: str) -> None:
        program = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}"]
        with (self._directory / name).open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    [*program, "--host", HOST, "--webui-port", "0", *arguments],
                    env=self.environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    def _wait_for(self, said: re.Pattern[str], times: int = 1) -> list[str]:
        """By the master."""
        deadline = time.monotonic() + START_TIMEOUT_S
        log = self._directory / "master"
        while len(found := said.findall(log.read_text())) < times:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        return found
