"""One Spark and one broker for all tests of a process: Spark takes seconds to start."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from snakka.pipeline.session import spark_session
from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import require
from tests.compat.spark_connector import SHORT_LIVED

os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED)  # of all that the tests start

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    require("java")
    session = spark_session("tests", "local[2]", SETTINGS)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        yield process
