"""Loads that begin with a broker of their own: starting, recovering, and growing in size."""

import math
import shutil
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

from confluent_kafka import Producer

from bench.connections import frame_of
from bench.peers import programs
from bench.peers.loads import OnBroker, RawFetch, RawProduce, scaled
from bench.peers.programs import Figures
from bench.peers.running import Running
from bench.peers.topics import create, topic, wait_until_serving
from snakka.protocol.messages.api_versions import ApiVersionsRequest
from snakka.protocol.messages.metadata import MetadataRequest

_SETTLE_S: Final = 1.0
_RECORD_BYTES: Final = 100 << 10
_METADATA_VERSION: Final = 12
_PARTITIONS_A_TOPIC: Final = 1_000  # Kafka refuses to make 10,000 at once


@contextmanager
def another(broker: Running) -> Iterator[Running]:
    """A broker of the same kind on fresh data, not yet started."""
    directory = broker.directory.with_name(f"{broker.directory.name}-another")
    fresh = Running(broker.peer, directory)
    try:
        yield fresh
    finally:
        fresh.kill()
        shutil.rmtree(directory)


class StartsAnother(OnBroker):
    starts_another: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Start(StartsAnother):
    """From nothing to the first record that is acknowledged, and what it then idles in."""

    def run(self, broker: Running, scale: float) -> Figures:
        with another(broker) as fresh:
            start = time.monotonic()
            fresh.start()
            wait_until_serving(fresh)
            create(fresh, "first", 1)
            producer = Producer({"bootstrap.servers": fresh.bootstrap, "log_level": 0})
            producer.produce("first", b"value")
            if producer.flush(30):
                raise programs.LoadError("the first record was not acknowledged")
            took_s = time.monotonic() - start
            time.sleep(_SETTLE_S)
            return {"seconds": took_s, "mib": fresh.resident_mib()}


@dataclass(frozen=True, slots=True)
class Restart(StartsAnother):
    """From the start to serving again on so much log, after a stop or after SIGKILL."""

    needs_files: ClassVar[bool] = True

    log_bytes: int
    killed: bool

    def run(self, broker: Running, scale: float) -> Figures:
        count = scaled(self.log_bytes // _RECORD_BYTES, scale)
        with another(broker) as fresh:
            fresh.start()
            wait_until_serving(fresh)
            create(fresh, "log", 1)
            programs.librdkafka("produce", fresh, "log", 1, _RECORD_BYTES, count, 0)
            if self.killed:
                fresh.kill()
            else:
                fresh.stop()
            return {"seconds": seconds_to_serve(fresh)}


@dataclass(frozen=True, slots=True)
class Partitions(StartsAnother):
    """A node of so many partitions: what they cost it, and what a request then costs."""

    needs_files: ClassVar[bool] = True

    count: int

    def run(self, broker: Running, scale: float) -> Figures:
        with another(broker) as fresh:
            fresh.start()
            wait_until_serving(fresh)
            create(fresh, "one", 1)
            start = time.monotonic()
            for index in range(math.ceil(self.count / _PARTITIONS_A_TOPIC)):
                _create_and_fill(fresh, f"many-{index}", min(self.count, _PARTITIONS_A_TOPIC))
            figures = {"create_seconds": time.monotonic() - start}
            figures["metadata_ms"] = _metadata_ms(fresh)
            produced = RawProduce(100, 1, inflight=1, seconds=2).on(fresh, "one", scale)
            figures["produce_us"] = produced["cpu_us_per_request"]
            fetched = RawFetch(max_bytes=16 << 10, batch_bytes=4 << 10, mib=4).on(
                fresh, "one", scale
            )
            figures["fetch_us"] = fetched["cpu_us_per_request"]
            figures["mib"] = fresh.resident_mib()
            fresh.stop()
            return figures | {"seconds": seconds_to_serve(fresh)}


@dataclass(frozen=True, slots=True)
class Connections(OnBroker):
    """So many connections that do nothing, and one that produces beside them."""

    count: int

    def run(self, broker: Running, scale: float) -> Figures:
        count = scaled(self.count, scale)
        with ExitStack() as stack:
            for _ in range(count):
                idle = stack.enter_context(socket.create_connection(("127.0.0.1", broker.port)))
                _ask(idle, frame_of(ApiVersionsRequest(), 0))
            with topic(broker) as name:
                figures = RawProduce(100, 1, inflight=1).on(broker, name, scale)
            return figures | {"mib": broker.resident_mib()}


def _create_and_fill(broker: Running, name: str, partitions: int) -> None:
    """One record is in each of them: a leader may be named before it can lead."""
    create(broker, name, partitions)
    programs.librdkafka("produce", broker, name, partitions, 100, partitions, 0)


def seconds_to_serve(broker: Running) -> float:
    start = time.monotonic()
    broker.start()
    wait_until_serving(broker)
    return time.monotonic() - start


def _metadata_ms(broker: Running) -> float:
    """How long it takes to describe all topics to a client that has seen none."""
    request = frame_of(MetadataRequest(topics=None), _METADATA_VERSION)
    seconds = []
    with socket.create_connection(("127.0.0.1", broker.port)) as connection:
        for _ in range(20):
            start = time.perf_counter()
            _ask(connection, request)
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds) * 1000


def _ask(connection: socket.socket, request: bytes) -> None:
    """Takes the answer, and looks at no more of it than its length."""
    connection.settimeout(programs.TIMEOUT_S)
    connection.sendall(request)
    left = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")
    while left:
        got = len(connection.recv(min(left, 1 << 20)))
        if not got:
            raise programs.LoadError("the broker hung up")
        left -= got
