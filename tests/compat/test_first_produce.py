"""From an empty directory: how soon `snakka serve` takes its first record, and what it idles in."""

import asyncio
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from confluent_kafka import Message, Producer

from snakka.client.address import Address
from snakka.client.connection import Connection
from snakka.client.errors import ClientError
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.compat.broker_process import BrokerProcess, resident_mib
from tests.compat.cluster import NodeProcess, free_ports

IDLE_MIB_MAX = 70


def bare_start_s() -> float:
    """What this machine takes now to start the same interpreter with the libraries of a broker."""
    libraries = "import asyncio, click, cramjam, crc32c, uvloop, hashlib, json, logging, uuid"
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", libraries], check=True)
    return time.monotonic() - start


def test_the_first_record_within_a_second_and_little_memory(tmp_path: Path) -> None:
    rounds = [(bare_start_s(), first_record_s(tmp_path / str(index))) for index in range(4)]
    for bare_s, first_s in rounds:
        print(f"first record after {first_s:.2f} s, libraries alone take {bare_s:.2f} s")
    # One second on a machine of its own, where the libraries take a tenth.
    assert min(first_s / max(bare_s, 0.1) for bare_s, first_s in rounds) < 10


def first_record_s(directory: Path) -> float:
    start = time.monotonic()
    with BrokerProcess(directory) as broker:
        delivered: list[Message] = []
        producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        producer.produce(
            "first", b"value", on_delivery=lambda _, message: delivered.append(message)
        )
        assert producer.flush(30) == 0
        took = time.monotonic() - start
        assert [each.error() for each in delivered] == [None]
        time.sleep(0.5)
        assert resident_mib(broker.pid) < IDLE_MIB_MAX
    return took


def test_whoever_can_connect_is_told_of_the_broker(tmp_path: Path) -> None:
    broker_port, controller_port = free_ports(2)
    node = NodeProcess(tmp_path / "1", 1, "broker,controller", controller_port, broker_port)
    node.format("--standalone")
    node.start()
    try:
        assert asyncio.run(brokers_at_once(broker_port)) == [1]
    finally:
        node.kill()


async def brokers_at_once(port: int) -> list[int]:
    """As the first client to get through is told: librdkafka does not ask again for seconds."""
    while True:
        with suppress(ClientError):
            connection = await Connection.open(Address("127.0.0.1", port))
            answer = await connection.ask(MetadataRequest(topics=[]), MetadataResponse)
            connection.close()
            return [each.node_id for each in answer.brokers]
