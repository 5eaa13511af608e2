"""A Spark session for a command, which tells its own story instead of Spark's log.

Not here: the session's settings (pipeline/session.py).
"""

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snakka.cli.connecting import refuse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITHOUT_JAVA: Final = (
    "Spark needs Java, which is not here: install a JRE of version 17 or newer (Debian: apt install"
    " openjdk-17-jre-headless; macOS: brew install openjdk@17), or set JAVA_HOME"
)
# What these say of a failure, the command says itself.
_TALKATIVE: Final = ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger")


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    if home and Path(home, "bin", "java").is_file():
        return True
    return shutil.which("java") is not None


def open_session(
    name: str, master: str, settings: Mapping[str, str] | None = None, log: str | None = None
) -> "SparkSession":
    """The session; ends the command where Spark cannot run. Spark's log goes to a file, if any."""
    if not has_java():
        refuse(WITHOUT_JAVA)
    try:
        from snakka.pipeline.session import spark_session
    except ImportError as error:
        refuse(f"{error.name} is missing: pip install 'snakka[spark]'")
    for each in _TALKATIVE:
        logging.getLogger(each).setLevel(logging.CRITICAL)
    with _stderr_to(log or os.devnull):
        return spark_session(name, master, {"spark.ui.enabled": "false", **(settings or {})})


@contextmanager
def _stderr_to(path: str) -> Iterator[None]:
    """What is started meanwhile writes its standard error to a file: the JVM and its workers."""
    kept = os.dup(2)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 2)
    os.close(file)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
