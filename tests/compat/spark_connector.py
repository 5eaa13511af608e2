"""Spark with its own Kafka connector, in versions that people run, apart from the Spark here.

A connector is built for one version of Spark. Spark comes from PyPI and the jars from Maven
Central, both into the git-ignored `.cache` on first use.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.compat.java_oracle import CACHE, missing, require

POM: Final = Path(__file__).parent / "spark" / "pom.xml"
SOURCES: Final = Path(__file__).parents[2]
# A third of what a short test costs is the JVM compiling itself as if it were to run for days.
SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True, slots=True)
class Connector:
    """A version of Spark with what its connector is made of."""

    spark: str
    scala: str
    kafka: str
    token: str

    def jars(self) -> str:
        """The connector's jars, as the setting spark.jars wants them."""
        directory = CACHE / f"spark-connector-{self.spark}"
        wanted = hashlib.sha256(repr(self).encode() + POM.read_bytes()).hexdigest()
        _once(directory, wanted, self._fetch_jars)
        return ",".join(str(each) for each in sorted(directory.glob("*.jar")))

    def environment(self) -> dict[str, str]:
        """Variables for a Python that is to run that Spark, and our sources."""
        spark = CACHE / f"pyspark-{self.spark}"
        _once(spark, self.spark, self._fetch_spark)
        path = os.pathsep.join((str(spark), str(SOURCES / "src"), str(SOURCES)))
        return {**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}

    def _fetch_jars(self, directory: Path) -> None:
        require("java", "mvn")
        versions = {
            "spark.version": self.spark,
            "scala.version": self.scala,
            "kafka.version": self.kafka,
            "token.version": self.token,
            "outputDirectory": str(directory),
        }
        given = [f"-D{name}={value}" for name, value in versions.items()]
        _run("mvn", "-q", "-f", str(POM), "dependency:copy-dependencies", *given)

    def _fetch_spark(self, directory: Path) -> None:
        _run(
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--target", str(directory), f"pyspark=={self.spark}"),
        )


SPARK_3: Final = Connector("3.5.7", scala="2.12", kafka="3.4.1", token="3.5.7")
OLDEST_SERVED: Final = Connector("4.0.0", scala="2.13", kafka="3.9.0", token="4.0.0")
NEWEST: Final = Connector("4.2.0", scala="2.13", kafka="3.9.2", token="4.0.0")


def _once(directory: Path, wanted: str, fetch: Callable[[Path], None]) -> None:
    """Fills a directory, unless it holds what is wanted; other test processes wait for it."""
    CACHE.mkdir(exist_ok=True)
    done = CACHE / f"{directory.name}.done"
    with (CACHE / f"{directory.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != wanted:
            shutil.rmtree(directory, ignore_errors=True)
            fetch(directory)
            done.write_text(wanted)


def _run(*command: str) -> None:
    fetched = subprocess.run(command, capture_output=True, text=True, check=False)
    if fetched.returncode:
        missing(f"{' '.join(command)}: {fetched.stdout}{fetched.stderr}")
