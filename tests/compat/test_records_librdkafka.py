"""Record batches and librdkafka: its own mock cluster stands between its clients and us.

librdkafka cannot decode a batch that lies somewhere; so we fetch what its producer wrote, and
produce what its consumer reads, by hand-made requests of versions that are not flexible.
"""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import pytest

from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from tests.compat.java_oracle import missing
from tests.protocol.records.samples import RECORDS, TIMESTAMP_MS

try:
    import confluent_kafka
except ImportError:
    missing("confluent-kafka is not installed: pip install confluent-kafka")

CODECS = tuple(Compression)
TIMEOUT_S: Final = 20.0
PRODUCE, PRODUCE_VERSION = 0, 3
FETCH, FETCH_VERSION = 1, 4


class Wire:
    """Produce and Fetch of one topic's partition 0, spoken to the mock broker."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)

    def close(self) -> None:
        self._socket.close()

    def produce(self, topic: str, records: bytes) -> int:
        """The base offset that the broker gave to `records`."""
        body = struct.pack(">hhi", -1, -1, 10_000) + self._partition(topic)
        body += struct.pack(">i", len(records)) + records
        answer = self._ask(PRODUCE, PRODUCE_VERSION, body)
        start = 4 + 2 + len(topic) + 4
        _, error, base_offset = struct.unpack_from(">ihq", answer, start)
        assert error == 0
        return int(base_offset)

    def fetch(self, topic: str, offset: int) -> bytes:
        """The batches from `offset` on, and an empty answer at the end."""
        body = struct.pack(">iiiib", -1, 0, 1, 1 << 24, 0) + self._partition(topic)
        body += struct.pack(">qi", offset, 1 << 24)
        answer = self._ask(FETCH, FETCH_VERSION, body)
        start = 4 + 4 + 2 + len(topic) + 4
        _, error, _, _ = struct.unpack_from(">ihqq", answer, start)
        assert error == 0
        (aborted_count,) = struct.unpack_from(">i", answer, start + 22)
        start += 26 + 16 * max(aborted_count, 0)
        (size,) = struct.unpack_from(">i", answer, start)
        return answer[start + 4 : start + 4 + max(size, 0)]

    @staticmethod
    def _partition(topic: str) -> bytes:
        return struct.pack(f">ih{len(topic)}sii", 1, len(topic), topic.encode(), 1, 0)

    def _ask(self, api_key: int, version: int, body: bytes) -> bytes:
        header = struct.pack(">hhih4s", api_key, version, 1, 4, b"wire")
        self._socket.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        (size,) = struct.unpack(">i", self._read(4))
        return self._read(size)[4:]

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            assert part, "the mock broker hung up"
            data += part
        return bytes(data)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    owner = confluent_kafka.Producer(
        {"bootstrap.servers": "ignored:1", "test.mock.num.brokers": 1, "log_level": 2}
    )
    (broker,) = owner.list_topics(timeout=TIMEOUT_S).brokers.values()
    yield f"{broker.host}:{broker.port}"
    owner.flush(TIMEOUT_S)


@pytest.fixture
def wire(address: str) -> Iterator[Wire]:
    with closing(Wire(address)) as wire:
        yield wire


def producer(address: str, codec: Compression, **settings: Any) -> confluent_kafka.Producer:
    return confluent_kafka.Producer(
        {
            "bootstrap.servers": address,
            "compression.codec": codec.name.lower(),
            "linger.ms": 100,
            "log_level": 2,
            **settings,
        }
    )


def create_topic(address: str, topic: str) -> None:
    """The mock cluster makes a topic when somebody asks for it."""
    producer(address, Compression.NONE).list_topics(topic, timeout=TIMEOUT_S)


def send(client: confluent_kafka.Producer, topic: str, *, repeat: int = 1) -> None:
    for record in RECORDS * repeat:
        client.produce(
            topic,
            record.value,
            record.key,
            partition=0,
            timestamp=record.timestamp_ms,
            headers=list(record.headers),
        )


def fetched(wire: Wire, topic: str) -> list[Batch]:
    found: list[Batch] = []
    offset = 0
    while data := wire.fetch(topic, offset):
        found += batches(data, ignore_partial_tail=True)
        offset = found[-1].header.next_offset
    return found


def consumed(address: str, topic: str, count: int) -> list[Record]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "reader",
            "check.crcs": True,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "log_level": 2,
        }
    )
    found: list[Record] = []
    deadline = time.monotonic() + TIMEOUT_S
    with closing(consumer):
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        while time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is None:
                continue
            if message.error():
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                if len(found) >= count:
                    break
                continue
            headers = tuple(message.headers() or ())
            timestamp_ms = message.timestamp()[1]
            found.append(
                Record(message.offset(), timestamp_ms, message.key(), message.value(), headers)
            )
    return found


def numbered(records: tuple[Record, ...], first_offset: int = 0) -> list[Record]:
    return [record._replace(offset=first_offset + index) for index, record in enumerate(records)]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("is_idempotent", [False, True])
def test_we_read_what_librdkafka_writes(
    address: str, wire: Wire, codec: Compression, is_idempotent: bool
) -> None:
    topic = f"theirs-{codec.name}-{is_idempotent}"
    client = producer(address, codec, **{"enable.idempotence": is_idempotent})
    send(client, topic, repeat=20)
    assert client.flush(TIMEOUT_S) == 0
    read = fetched(wire, topic)
    for batch in read:
        batch.verify_crc()
        assert (batch.header.producer_id >= 0) == is_idempotent
    assert codec in {batch.header.compression for batch in read}
    assert [record for batch in read for record in batch.records()] == numbered(RECORDS * 20)


def test_we_read_the_transactions_of_librdkafka(address: str, wire: Wire) -> None:
    client = producer(address, Compression.ZSTD, **{"transactional.id": "a transaction"})
    client.init_transactions(TIMEOUT_S)
    client.begin_transaction()
    send(client, "theirs-transactional")
    client.commit_transaction(TIMEOUT_S)
    read = fetched(wire, "theirs-transactional")
    assert all(batch.header.is_transactional for batch in read)
    data = [batch for batch in read if not batch.header.is_control]
    assert [record for batch in data for record in batch.records()] == numbered(RECORDS)
    markers = [record for batch in read if batch.header.is_control for record in batch.records()]
    assert {EndTxnMarker.read(marker).type for marker in markers} == {ControlType.COMMIT}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("log_append_time", [None, TIMESTAMP_MS + 1])
def test_librdkafka_reads_what_we_write(
    address: str, wire: Wire, codec: Compression, log_append_time: int | None
) -> None:
    topic = f"ours-{codec.name}-{log_append_time}"
    create_topic(address, topic)
    written = build_batch(
        numbered(RECORDS),
        compression=codec,
        log_append_time=log_append_time,
        producer_id=7,
        producer_epoch=0,
        base_sequence=0,
    )
    assert [wire.produce(topic, written) for _ in range(3)] == [0, 5, 10]
    stamped = tuple(
        record._replace(timestamp_ms=log_append_time or record.timestamp_ms) for record in RECORDS
    )
    assert consumed(address, topic, 15) == numbered(stamped * 3)


def test_librdkafka_passes_over_our_markers(address: str, wire: Wire) -> None:
    topic = "ours-transactional"
    create_topic(address, topic)
    data = build_batch(
        numbered(RECORDS), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    marker = build_end_txn_batch(
        EndTxnMarker(ControlType.COMMIT, 0), timestamp_ms=1, producer_id=7, producer_epoch=0
    )
    for one in (data, marker, data, marker):
        wire.produce(topic, one)
    assert consumed(address, topic, 10) == [*numbered(RECORDS), *numbered(RECORDS, 6)]
