"""Spark's own Kafka connector against a broker process, source and sink, batch and stream.

The same queries through `format("kafka")` and `format("snakka")` find equal rows, for all options
that both know.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient

from tests.compat import spark_connector
from tests.compat.broker_process import BrokerProcess
from tests.compat.spark_queries import FORMATS, options_of
from tests.pipeline.topics import (
    Row,
    make_topic,
    produce,
    produce_in,
    transactional_producer,
)

SCRIPT = Path(__file__).with_name("spark_queries.py")
PARTITIONS = 3
MIDDLE_MS = 1_700_000_000_000
TOPICS = {"plain": "plain-1", "committed": "committed", "cut": "cut"}
NAMES = [*options_of(TOPICS, MIDDLE_MS), "written", "streamed", "crossed"]
TIMEOUT_S = 600


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each query found, by format."""
    jars, environment = spark_connector.jars(), spark_connector.environment()
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as broker:
        told = fill(broker)
        ran = subprocess.run(
            [sys.executable, str(SCRIPT), broker.bootstrap, jars],
            input=json.dumps(told) + "\n",
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr[-5000:]
    answer = json.loads(ran.stdout.splitlines()[-1])
    assert answer["version"] == spark_connector.SPARK_VERSION
    results: dict[str, dict[str, Any]] = answer["found"]
    return results


@pytest.mark.parametrize("name", NAMES)
def test_both_find_the_same_rows(found: dict[str, dict[str, Any]], name: str) -> None:
    theirs, ours = (found[name][each] for each in FORMATS)
    assert ours == theirs
    assert bool(ours) is (name != "later than any")


def fill(broker: BrokerProcess) -> dict[str, Any]:
    """Topics with everything that a record can hold, with aborted transactions, and cut."""
    make_topic(broker.bootstrap, PARTITIONS, TOPICS["plain"])
    rows = [
        Row(
            None if i % 3 == 0 else b"k%d" % i,
            None if i % 5 == 0 else bytes([i]) * i,
            i % PARTITIONS,
            MIDDLE_MS - 50 + i,
            [("a", b"%d" % i), ("b", None), ("a", b"")] if i % 4 == 0 else None,
        )
        for i in range(100)
    ]
    produce(broker.bootstrap, TOPICS["plain"], rows, **{"batch.num.messages": 5})
    make_topic(broker.bootstrap, 1, TOPICS["committed"])
    producer = transactional_producer(broker.bootstrap, "writer")
    for i in range(4):
        producer.begin_transaction()
        produce_in(producer, TOPICS["committed"], [Row(b"%d" % i, b"%d" % j) for j in range(5)])
        if i % 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    make_topic(broker.bootstrap, 1, TOPICS["cut"])
    produce(broker.bootstrap, TOPICS["cut"], [Row(b"%d" % i) for i in range(10)])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.delete_records([Place(TOPICS["cut"], 0, 4)]).values():
        done.result()
    told: dict[str, Any] = {"topics": TOPICS, "middle_ms": MIDDLE_MS}
    for use in ("written", "streamed", "crossed"):
        told[use] = {each: make_topic(broker.bootstrap, PARTITIONS) for each in FORMATS}
    return told
