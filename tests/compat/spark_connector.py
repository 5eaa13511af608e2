"""Spark with its own Kafka connector, of one version, apart from the Spark of this environment.

The connector is built for one version of Spark. That Spark, which is also the oldest that we serve,
comes from PyPI and the jars from Maven Central, both into the git-ignored `.cache` on first use.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.compat.java_oracle import CACHE, missing, require

SPARK_VERSION: Final = "4.0.0"
POM: Final = Path(__file__).parent / "spark" / "pom.xml"
JARS: Final = CACHE / "spark-connector"
SPARK: Final = CACHE / f"pyspark-{SPARK_VERSION}"
SOURCES: Final = Path(__file__).parents[2]


def jars() -> str:
    """The connector's jars, as the setting spark.jars wants them."""
    _once(JARS, hashlib.sha256(POM.read_bytes()).hexdigest(), _fetch_jars)
    return ",".join(str(each) for each in sorted(JARS.glob("*.jar")))


def environment() -> dict[str, str]:
    """Variables for a Python that is to run that Spark, and our sources."""
    _once(SPARK, SPARK_VERSION, _fetch_spark)
    path = os.pathsep.join((str(SPARK), str(SOURCES / "src"), str(SOURCES)))
    return {**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}


def _once(directory: Path, wanted: str, fetch: Callable[[], None]) -> None:
    """Fills a directory, unless it holds what is wanted; other test processes wait for it."""
    CACHE.mkdir(exist_ok=True)
    done = CACHE / f"{directory.name}.done"
    with (CACHE / f"{directory.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != wanted:
            shutil.rmtree(directory, ignore_errors=True)
            fetch()
            done.write_text(wanted)


def _fetch_jars() -> None:
    require("java", "mvn")
    _run("mvn", "-q", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={JARS}")


def _fetch_spark() -> None:
    _run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--target", str(SPARK), f"pyspark=={SPARK_VERSION}"),
    )


def _run(*command: str) -> None:
    fetched = subprocess.run(command, capture_output=True, text=True, check=False)
    if fetched.returncode:
        missing(f"{' '.join(command)}: {fetched.stdout}{fetched.stderr}")
