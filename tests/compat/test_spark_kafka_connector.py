"""Spark's own Kafka connector against a broker process, source and sink, batch and stream.

The same queries through `format("kafka")`, by three versions of Spark, and `format("snakka")`, by
those that it serves, find equal rows, for all options that both know.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient

from tests.compat.broker_process import BrokerProcess
from tests.compat.spark_connector import NEWEST, OLDEST_SERVED, SHORT_LIVED, SPARK_3, Connector
from tests.compat.spark_queries import FORMATS, options_of
from tests.pipeline.topics import (
    Row,
    make_topic,
    produce,
    produce_in,
    transactional_producer,
)

SCRIPT: Final = Path(__file__).with_name("spark_queries.py")
PARTITIONS: Final = 3
MIDDLE_MS: Final = 1_700_000_000_000
TOPICS: Final = {"plain": "plain-1", "committed": "committed", "cut": "cut"}
NAMES: Final = {*options_of(TOPICS, MIDDLE_MS), "written", "streamed"}
RUNS: Final = ((SPARK_3, FORMATS[:1]), (OLDEST_SERVED, FORMATS), (NEWEST, FORMATS))
TIMEOUT_S: Final = 600


def test_all_find_the_same_rows(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        told = fill(broker)
        found = {
            f"{name} of Spark {connector.spark}": rows
            for connector, formats in RUNS
            for name, rows in ask(broker, connector, formats, told).items()
        }
    expected = found[f"kafka of Spark {SPARK_3.spark}"]
    assert expected.keys() == NAMES
    assert {name for name, rows in expected.items() if not rows} == {"later than any"}
    for who, queries in found.items():
        crossed = queries.pop("crossed", expected["streamed"])
        assert crossed == expected["streamed"], who
        for name, rows in queries.items():
            assert rows == expected[name], f"{who}: {name}"


def ask(
    broker: BrokerProcess, connector: Connector, formats: tuple[str, ...], told: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """What each query found, by format."""
    for use in ("written", "streamed", "crossed"):
        told[use] = {each: make_topic(broker.bootstrap, PARTITIONS) for each in formats}
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), broker.bootstrap, connector.jars(), *formats],
        input=json.dumps(told) + "\n",
        env=connector.environment() | {"SPARK_SUBMIT_OPTS": SHORT_LIVED},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-5000:]
    answer = json.loads(ran.stdout.splitlines()[-1])
    assert answer["version"] == connector.spark
    return {
        each: {name: by_format[each] for name, by_format in answer["found"].items()}
        for each in formats
    }


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
    return {"topics": TOPICS, "middle_ms": MIDDLE_MS}
