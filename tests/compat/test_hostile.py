"""Hostile clients against a broker process: good ones are answered throughout, memory is bounded.

Each test attacks from connections of its own, beside a client that asks on one connection all the
time and another, librdkafka, that produces. HALF_OPEN sets how many connections are left half open.
"""

import os
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pytest
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from hypothesis import HealthCheck, Phase, given, settings

from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import read_response, write_request
from snakka.protocol.limits import ARRAY_ELEMENTS_MAX
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.records.batch import BatchHeader, seal
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.compression import Compression, compress
from snakka.protocol.records.record import Record
from snakka.protocol.schema import Request
from snakka.protocol.types import Buffer
from tests.compat.broker_process import BrokerProcess, resident_mib
from tests.protocol.messages import Values

MIB = 1 << 20
IDLE = 1000
IDLE_BYTES_MAX = 16 * 1024
HALF_OPEN = int(os.environ.get("HALF_OPEN", "3000"))
GROWTH_MIB_MAX = 64  # of the broker's memory, in any one attack
BOMB_MIB_MAX = 128 + GROWTH_MIB_MAX  # one at a time, up to what may be decompressed
ANSWER_S_MAX = 15.0  # for a good client meanwhile, on a machine that others use, too
LOG_LINES_MAX = 200
FRAME_BYTES_MAX = 100 * MIB  # socket.request.max.bytes


def frame_of(request: Request, version: int) -> bytes:
    chunks = write_request(request, version, correlation_id=1, client_id="hostile")
    return b"".join(each for each in chunks if isinstance(each, Buffer))


class Wire:
    """One connection, on which anything may be sent."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), ANSWER_S_MAX)

    def send(self, *chunks: Buffer) -> None:
        self.socket.sendall(b"".join(chunks))

    def receive(self) -> bytes:
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def versions(self) -> ApiVersionsResponse:
        self.send(frame_of(ApiVersionsRequest(), 0))
        return read_response(ApiVersionsResponse, 0, self.receive())[1]

    def is_ended(self) -> bool:
        """Whether the broker closes it, rather than waiting for more."""
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self.socket.recv(size - len(parts))
            if not part:
                raise ConnectionError("the broker has closed the connection")
            parts += part
        return bytes(parts)


class GoodClients:
    """One asks and one produces, all the time; how long that took, and whether it went well."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._wire = Wire(broker.bootstrap)
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        self._errors: list[KafkaError | None] = []
        self._is_over = False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self.slowest_s = 0.0
        self.answers = 0

    def _run(self) -> None:
        try:
            while not self._is_over:
                start = time.monotonic()
                self._wire.versions()
                self.slowest_s = max(self.slowest_s, time.monotonic() - start)
                self.answers += 1
                self._producer.produce("good", b"value", on_delivery=self._delivered)
                self._producer.poll(0)
                time.sleep(0.01)
        except Exception as failure:
            self._failure = failure

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        self._errors.append(error)

    def __enter__(self) -> "GoodClients":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over = True
        self._thread.join()
        if error is None:
            assert self._producer.flush(30) == 0
            assert self._failure is None, self._failure
            assert self.answers > 0
            assert [each for each in self._errors if each is not None] == []
            assert self.slowest_s < ANSWER_S_MAX
        self._wire.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        admin = AdminClient({"bootstrap.servers": process.bootstrap, "log_level": 0})
        compacted = NewTopic("compacted", 1, 1, config={"cleanup.policy": "compact"})
        recompressed = NewTopic("recompressed", 1, 1, config={"compression.type": "snappy"})
        topics = [NewTopic("good", 1, 1), compacted, recompressed]
        for created in admin.create_topics(topics).values():
            created.result(20)
        yield process


@contextmanager
def attacked(broker: BrokerProcess, growth_mib_max: int = GROWTH_MIB_MAX) -> Iterator[ExitStack]:
    """Good clients are served while the context lasts, and little memory and log is taken."""
    lines = len(broker.log.read_bytes().splitlines())
    before_mib = peak_mib(broker, is_new=True)
    with ExitStack() as attackers, GoodClients(broker) as good:
        yield attackers
        answers = good.answers
        deadline = time.monotonic() + ANSWER_S_MAX
        while good.answers < answers + 3:
            assert time.monotonic() < deadline, "the good client is answered no more"
            time.sleep(0.01)
        growth_mib = peak_mib(broker) - before_mib
    print(f"slowest answer {good.slowest_s * 1000:.0f} ms, {growth_mib:.1f} MiB more")
    assert growth_mib < growth_mib_max
    log = broker.log.read_bytes().decode().splitlines()[lines:]
    assert len(log) <= LOG_LINES_MAX, log[-10:]
    assert not [line for line in log if "Traceback" in line], "\n".join(log)


def peak_mib(broker: BrokerProcess, *, is_new: bool = False) -> float:
    """The most that the broker has had in memory since it was asked anew."""
    if is_new:
        Path(f"/proc/{broker.pid}/clear_refs").write_text("5")
    return resident_mib(broker.pid, "VmHWM")


def wires(broker: BrokerProcess, attackers: ExitStack, count: int) -> Iterator[Wire]:
    for _ in range(count):
        wire = Wire(broker.bootstrap)
        attackers.callback(wire.close)
        yield wire


def metadata_of(names: int) -> bytes:
    """A Metadata request, version 1, with that many names of topics, all empty."""
    header = struct.pack(">hhih", ApiKey.METADATA, 1, 7, -1)
    body = struct.pack(">i", names) + b"\0\0" * names
    return struct.pack(">i", len(header) + len(body)) + header + body


def produce_of(topic: str, batch: bytes) -> bytes:
    data = TopicProduceData(
        name=topic, partition_data=[PartitionProduceData(index=0, records=batch)]
    )
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[data])
    return frame_of(request, 7)


def test_frames_that_stop_in_the_middle(broker: BrokerProcess) -> None:
    with attacked(broker) as attackers:
        for size in (5, 1000, 100_000, FRAME_BYTES_MAX):
            for wire in wires(broker, attackers, 100):
                wire.send(struct.pack(">i", size), b"\0" * (size // 2 if size < MIB else 1000))


def test_lengths_that_cannot_be_end_their_connections(broker: BrokerProcess) -> None:
    with attacked(broker) as attackers:
        for size in (-1, -(1 << 31), FRAME_BYTES_MAX + 1, (1 << 31) - 1):
            for wire in wires(broker, attackers, 10):
                wire.send(struct.pack(">i", size), b"x" * 100)
                assert wire.is_ended()


def test_garbage_after_a_handshake_ends_its_connection(broker: BrokerProcess) -> None:
    rng = random.Random(0)
    with attacked(broker) as attackers:
        for wire in wires(broker, attackers, 50):
            assert wire.versions().error_code == ErrorCode.NONE
            garbage = rng.randbytes(rng.randrange(20, 2000))
            wire.send(struct.pack(">i", len(garbage)), garbage)
            assert wire.is_ended()


def test_every_api_with_garbage_for_a_body(broker: BrokerProcess) -> None:
    rng = random.Random(0)
    with attacked(broker) as attackers:
        served = next(wires(broker, attackers, 1)).versions().api_keys
        keys = [(each.api_key, each.min_version, each.max_version) for each in served]
        for key, first, last in [*keys, (-1, 0, 1), (999, 0, 1), (32767, 0, 1)]:
            for version in {first, last, last + 1, -1}:
                for size in (0, 20, 400):
                    wire = next(wires(broker, attackers, 1))
                    body = struct.pack(">hhihx", key, version, 1, -1) + rng.randbytes(size)
                    wire.send(struct.pack(">i", len(body)), body)
                    wire.close()


def test_every_api_with_any_values(tmp_path: Path) -> None:
    """Requests that are well formed, and make no sense: each gets an answer, or waits for one."""
    with BrokerProcess(tmp_path / "asked") as broker, attacked(broker) as attackers:
        for each in next(wires(broker, attackers, 1)).versions().api_keys:
            message = request_type(ApiKey(each.api_key))
            first = max(each.min_version, message.VERSIONS.first)
            for version in {first, each.max_version}:
                ask_anything(broker, message, version)


def ask_anything(broker: BrokerProcess, message: type[Request], version: int) -> None:
    @settings(
        max_examples=2,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(Values().message(message, version))
    def ask(request: Request) -> None:
        wire = Wire(broker.bootstrap)
        wire.socket.settimeout(0.1)
        wire.send(frame_of(request, version))
        try:
            with suppress(TimeoutError):
                wire.receive()
        except ConnectionError as ended:
            raise AssertionError(f"{request} in version {version}: {ended}") from ended
        finally:
            wire.close()

    ask()


def test_arrays_longer_than_the_frame_or_the_limit(broker: BrokerProcess) -> None:
    with attacked(broker) as attackers:
        for claimed in (1_000, 1 << 20, (1 << 31) - 1):  # pitfall 38
            for wire in wires(broker, attackers, 5):
                frame = bytearray(metadata_of(10))
                frame[14:18] = struct.pack(">i", claimed)
                wire.send(frame)
                assert wire.is_ended()
        wire = next(wires(broker, attackers, 1))
        wire.send(metadata_of(ARRAY_ELEMENTS_MAX + 1))
        assert wire.is_ended()


def test_answers_that_nobody_reads(broker: BrokerProcess) -> None:
    fill(broker, "good", 48)
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=50 * MIB)
    topic = FetchTopic(topic="good", partitions=[partition])
    request = FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=50 * MIB, topics=[topic])
    fetch = frame_of(request, 11)
    with attacked(broker) as attackers:
        for requests in (fetch * 64, metadata_of(1000) * 200):
            for wire in wires(broker, attackers, 20):
                wire.socket.settimeout(0.1)
                with suppress(TimeoutError):
                    wire.send(requests)


def fill(broker: BrokerProcess, topic: str, mib: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for _ in range(mib):
        producer.produce(topic, b"x" * (MIB - 100_000))
    assert producer.flush(20) == 0


@pytest.mark.parametrize(
    ("topic", "codec"),
    [
        ("compacted", Compression.GZIP),
        ("compacted", Compression.LZ4),
        ("recompressed", Compression.ZSTD),
    ],
)
def test_bombs(broker: BrokerProcess, topic: str, codec: Compression) -> None:
    """Batches of less than a message's size that would become gigabytes (pitfall 38)."""
    bomb = bomb_of(codec)
    assert len(bomb) < MIB
    with attacked(broker, growth_mib_max=BOMB_MIB_MAX) as attackers:
        for wire in wires(broker, attackers, 4):
            wire.send(produce_of(topic, bomb))
            _, response = read_response(ProduceResponse, 7, wire.receive())
            (partition,) = response.responses[0].partition_responses
            assert partition.error_code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)


def bomb_of(codec: Compression) -> bytes:
    """A batch that claims one record, and is far longer when decompressed."""
    plain = build_batch([Record(0, int(time.time() * 1000), b"key", b"value")])
    header = BatchHeader.read(plain)._replace(attributes=codec)
    return seal(header, compress(codec, bytes(200 * MIB)))


def test_an_idle_connection_takes_little_memory(broker: BrokerProcess) -> None:
    with ExitStack() as clients:
        first = next(wires(broker, clients, 1))
        first.versions()
        before_mib = resident_mib(broker.pid)
        for wire in wires(broker, clients, IDLE):
            assert wire.versions().error_code == ErrorCode.NONE
        per_connection = (resident_mib(broker.pid) - before_mib) * MIB / IDLE
        print(f"{per_connection:.0f} bytes for each of {IDLE} idle connections")
        assert per_connection < IDLE_BYTES_MAX


def test_connections_that_say_nothing(broker: BrokerProcess) -> None:
    with attacked(broker) as attackers:
        for _ in wires(broker, attackers, HALF_OPEN):
            pass


def test_connections_that_are_reset_at_once(broker: BrokerProcess) -> None:
    with attacked(broker) as attackers:
        for wire in wires(broker, attackers, 500):
            linger = struct.pack("ii", 1, 0)
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            wire.close()
