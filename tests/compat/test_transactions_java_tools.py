"""Transactions as Kafka's own tools show them: kafka-transactions.sh, and the dump of the log."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer

from snakka.coordinators.partitioning import partition_for
from snakka.coordinators.transactions.metadata import State
from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram, require
from tests.compat.java_tools import JavaTools

TIMEOUT_S = 20
COMMAND = "TransactionsCommand"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    require("java")
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        yield process


@pytest.fixture(scope="module")
def tools(broker: BrokerProcess) -> Iterator[JavaTools]:
    with JavaTools(broker) as started:
        yield started


@contextmanager
def open_transaction(broker: BrokerProcess, transactional_id: str, topic: str) -> Iterator[None]:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "transactional.id": transactional_id,
            "log_level": 0,
        }
    )
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, b"x")
    producer.flush(TIMEOUT_S)
    try:
        yield
    finally:
        producer.abort_transaction(TIMEOUT_S)


def test_kafka_transactions_sh(broker: BrokerProcess, tools: JavaTools) -> None:
    with open_transaction(broker, "seen", "tools"), open_transaction(broker, "other", "tools"):
        filters = ("--duration-filter", "0", "--transactional-id-pattern", "s.*n")
        listed = tools.run(COMMAND, "list", *filters)
        _, row = (line.split() for line in listed.splitlines())
        assert (row[0], row[3]) == ("seen", "Ongoing")
        longer = tools.run(COMMAND, "list", "--duration-filter", "3600000")
        assert len(longer.splitlines()) == 1
        described = tools.run(COMMAND, "describe", "--transactional-id", "seen")
        assert "Ongoing" in described
        assert "tools-0" in described
        where = ("--topic", "tools", "--partition", "0")
        producers = tools.run(COMMAND, "describe-producers", *where)
        assert row[2] in [line.split()[0] for line in producers.splitlines()]
        hanging = tools.run(
            COMMAND, "find-hanging", "--broker-id", "1", "--max-transaction-timeout", "0"
        )
        assert len(hanging.splitlines()) == 1  # they are open, and somebody will end them


def test_an_operator_aborts_a_transaction(broker: BrokerProcess, tools: JavaTools) -> None:
    with open_transaction(broker, "stuck", "aborted"):
        tools.run(COMMAND, "abort", "--topic", "aborted", "--partition", "0", "--start-offset", "0")
        producers = tools.run(
            COMMAND, "describe-producers", "--topic", "aborted", "--partition", "0"
        )
        header, row = (line.split() for line in producers.splitlines())
        assert row[header.index("CurrentTransactionStartOffset")] == "None"


def test_kafkas_dump_reads_the_transaction_log(broker: BrokerProcess, tools: JavaTools) -> None:
    with JavaProgram(JAVA_SOURCES / "Transactions.java") as java:
        for line in (
            *(f"open a {broker.bootstrap} dumped 60000", "init a"),
            *("begin a", "send a dumped 0 x", "commit a"),
            *("begin a", "send a dumped 0 x", "abort a", "close a"),
        ):
            assert java.ask(line) == "ok"
    directory = f"__transaction_state-{partition_for('dumped', 50)}"
    file = broker.log.parent / "data" / directory / f"{0:020d}.log"
    options = ("--transaction-log-decoder", "--deep-iteration", "--files", str(file))
    dumped = tools.run_bare("DumpLogSegments", *options)
    payloads = [line.partition("payload: ")[2] for line in dumped.splitlines()]
    values = [json.loads(each)["data"] for each in payloads if each]
    # Version 2 has an epoch for each transaction: the next one begins with its end.
    assert [(State(each["transactionStatus"]).title, each["producerEpoch"]) for each in values] == [
        ("Empty", 0),
        *(("Ongoing", 0), ("PrepareCommit", 1), ("CompleteCommit", 1)),
        *(("Ongoing", 1), ("PrepareAbort", 2), ("CompleteAbort", 2)),
    ]
    assert values[1]["transactionPartitions"] == [{"topic": "dumped", "partitionIds": [0]}]
    assert [each.get("clientTransactionVersion") for each in values] == [None] + [2] * 6
