"""Many connections to one broker: `python -m bench.connections`.

What an idle connection costs the broker in memory, and how long a Produce takes at a steady rate:
over one connection, and over many of them beside the idle ones.
"""

import argparse
import asyncio
import resource
import socket
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import uvloop

from snakka.protocol.frames import read_response, write_request
from snakka.protocol.messages.api_versions import ApiVersionsRequest
from snakka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.protocol.schema import Request
from snakka.protocol.types import Buffer
from tests.compat.broker_process import BrokerProcess, resident_mib

PRODUCE_VERSION = 9
VALUE_BYTES = 100


class Load(asyncio.Protocol):
    """A connection that sends frames, and notes how long each answer takes."""

    def __init__(self) -> None:
        self._sent_s: deque[float] = deque()
        self._received = b""
        self.seconds: list[float] = []
        self.last = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by class
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= 4:
            end = 4 + int.from_bytes(self._received[:4])
            if len(self._received) < end:
                return
            self.seconds.append(time.perf_counter() - self._sent_s.popleft())
            self.last, self._received = self._received[4:end], self._received[end:]

    def send(self, frame: bytes) -> None:
        self._sent_s.append(time.perf_counter())
        self.transport.write(frame)

    @property
    def is_waiting(self) -> bool:
        return bool(self._sent_s)

    async def ask(self, frame: bytes) -> bytes:
        self.send(frame)
        while self.is_waiting:
            await asyncio.sleep(0.001)
        self.seconds.clear()
        return self.last


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Memory and latency with many connections; takes about a minute.",
        epilog="Example: python -m bench.connections --idle 5000 --active 1000",
    )
    parser.add_argument("--idle", type=int, default=5000)
    parser.add_argument("--active", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=1000, help="requests a second, of all together")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each of the rounds")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with (
        tempfile.TemporaryDirectory(prefix="snakka-bench-") as directory,
        BrokerProcess(Path(directory)) as broker,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(measure(broker, arguments))


async def measure(broker: BrokerProcess, arguments: argparse.Namespace) -> None:
    one = await connected(broker, 1)
    topic = CreatableTopic(
        name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    await one[0].ask(frame_of(CreateTopicsRequest(topics=[topic], timeout_ms=5000), 7))
    await one[0].ask(produce_frame())
    before_mib = resident_mib(broker.pid)
    idle = await connected(broker, arguments.idle)
    per_idle_kib = (resident_mib(broker.pid) - before_mib) * 1024 / arguments.idle
    print(f"{arguments.idle} idle connections: {per_idle_kib:.1f} KiB each")
    many = await connected(broker, arguments.active)
    results: dict[str, list[float]] = {"one": [], "many": []}
    for _ in range(arguments.rounds):
        for name, loads in (("one", one), ("many", many)):
            seconds = await produced(loads, arguments.rate, arguments.seconds)
            results[name].append(percentile(seconds, 99))
            print(
                f"{len(loads):5} active, {arguments.rate} requests/s: "
                f"median {percentile(seconds, 50) * 1000:.2f} ms, "
                f"p99 {percentile(seconds, 99) * 1000:.2f} ms"
            )
    ratio = statistics.median(results["many"]) / statistics.median(results["one"])
    print(f"p99 of many over p99 of one, medians of {arguments.rounds} rounds: {ratio:.2f}")
    for load in (*one, *idle, *many):
        load.transport.close()


async def connected(broker: BrokerProcess, count: int) -> list[Load]:
    """Connections that have asked for versions, as every client does first."""
    host, _, port = broker.bootstrap.rpartition(":")
    loop = asyncio.get_running_loop()
    loads = []
    for _ in range(count):
        _, load = await loop.create_connection(Load, host, int(port))
        await load.ask(frame_of(ApiVersionsRequest(), 0))
        loads.append(load)
    return loads


async def produced(loads: Sequence[Load], rate: int, seconds: float) -> list[float]:
    """The latencies of requests at a steady rate, each over the next connection in turn."""
    frame = produce_frame()
    start = time.perf_counter()
    for index in range(int(rate * seconds)):
        wait = start + index / rate - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        loads[index % len(loads)].send(frame)
    while any(load.is_waiting for load in loads):
        await asyncio.sleep(0.01)
    _, answer = read_response(ProduceResponse, PRODUCE_VERSION, loads[0].last)
    assert answer.responses[0].partition_responses[0].error_code == 0
    latencies = [each for load in loads for each in load.seconds]
    assert len(latencies) == int(rate * seconds)
    for load in loads:
        load.seconds.clear()
    return latencies


def produce_frame() -> bytes:
    batch = build_batch([Record(0, int(time.time() * 1000), None, bytes(VALUE_BYTES))])
    data = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=batch)])
    request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data])
    return frame_of(request, PRODUCE_VERSION)


def frame_of(request: Request, version: int) -> bytes:
    chunks = write_request(request, version, correlation_id=1, client_id="bench")
    return b"".join(each for each in chunks if isinstance(each, Buffer))


def percentile(seconds: Sequence[float], percent: int) -> float:
    return sorted(seconds)[len(seconds) * percent // 100]


if __name__ == "__main__":
    main()
