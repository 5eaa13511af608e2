"""A Spark session that finds the data source `snakka`.

Any session will do whose workers run the Python that has this package; this one is set up for it,
and keeps Spark's log to warnings.
"""

import os
import sys
from collections.abc import Mapping
from typing import Final

from pyspark.sql import SparkSession

LOCAL: Final = "local[*]"
_SETTINGS: Final = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}


def spark_session(
    name: str = "snakka", master: str = LOCAL, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The running session, or a new one with these Spark settings."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master.startswith("local"):
        # Else Spark listens on every address of the machine, its web page included.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in {**_SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session
