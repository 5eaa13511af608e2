"""Topics for the tests, made and filled by librdkafka."""

import uuid
from collections.abc import Iterable
from typing import Any, NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic


class Row(NamedTuple):
    """A record to write."""

    key: bytes | None = None
    value: bytes | None = None
    partition: int = 0
    timestamp_ms: int = 0  # now
    headers: list[tuple[str, bytes | None]] | None = None


def make_topic(bootstrap: str, partitions: int = 1, name: str = "", **config: str) -> str:
    """A new topic that keeps records however old; in its settings `_` stands for a dot."""
    name = name or f"t-{uuid.uuid4().hex[:8]}"
    settings = {key.replace("_", "."): value for key, value in config.items()}
    settings.setdefault("retention.ms", "-1")
    topic = NewTopic(name, partitions, config=settings)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([topic])[name].result()
    return name


def produce(bootstrap: str, topic: str, rows: Iterable[Row], **settings: Any) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, **settings})
    for row in rows:
        _produce(producer, topic, row)
    assert producer.flush(30) == 0


def transactional_producer(bootstrap: str, transactional_id: str) -> Producer:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": transactional_id})
    producer.init_transactions(30)
    return producer


def produce_in(producer: Producer, topic: str, rows: Iterable[Row]) -> None:
    """Writes within whatever transaction the producer has begun."""
    for row in rows:
        _produce(producer, topic, row)
    assert producer.flush(30) == 0


def numbered(count: int, partition: int = 0, start: int = 0) -> list[Row]:
    return [Row(str(i).encode(), b"value %d" % i, partition) for i in range(start, start + count)]


def _produce(producer: Producer, topic: str, row: Row) -> None:
    while True:
        try:
            producer.produce(
                topic,
                row.value,
                row.key,
                partition=row.partition,
                timestamp=row.timestamp_ms,
                headers=row.headers,
            )
        except BufferError:
            producer.poll(0.1)
        else:
            return
