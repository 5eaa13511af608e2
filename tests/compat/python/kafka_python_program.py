"""kafka-python, as the tests drive it."""

from collections.abc import Sequence
from typing import Any, Final

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, TopicAlreadyExistsError
from kafka.structs import OffsetAndMetadata

from tests.compat.python.orders import (
    Answer,
    Consumer,
    Order,
    Producer,
    Record,
    pairs,
    record_of,
    serve,
    utf8,
)

TIMEOUT_S: Final = 30
POLL_MS: Final = 200
REQUEST_BYTES_MAX: Final = 5_000_000


class KafkaPythonProducer:
    def __init__(self, order: Order, transactional_id: str | None) -> None:
        self.inner = KafkaProducer(
            bootstrap_servers=order["bootstrap"],
            acks="all" if order["acks"] == -1 else order["acks"],
            enable_idempotence=order["acks"] == -1,
            compression_type=None if order["codec"] == "none" else order["codec"],
            max_request_size=REQUEST_BYTES_MAX,
            transactional_id=transactional_id,
        )
        if transactional_id is not None:
            self.inner.init_transactions()

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        sent = [
            self.inner.send(
                topic,
                utf8(each["value"]),
                utf8(each.get("key")),
                pairs(each.get("headers", ())),
                each["partition"],
                each.get("timestamp"),
            )
            for each in records
        ]
        return [each.get(TIMEOUT_S).offset for each in sent]

    def begin(self) -> None:
        self.inner.begin_transaction()

    def commit(self) -> None:
        self.inner.commit_transaction()

    def abort(self) -> None:
        self.inner.abort_transaction()

    def close(self) -> None:
        self.inner.close(TIMEOUT_S)


class KafkaPythonConsumer:
    def __init__(self, order: Order, group: str | None, read_committed: bool) -> None:
        self._inner = KafkaConsumer(
            bootstrap_servers=order["bootstrap"],
            group_id=group,
            isolation_level="read_committed" if read_committed else "read_uncommitted",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
        )
        topic = order["topic"]
        if group is not None:
            self._inner.subscribe([topic])
        else:
            partitions = self._inner.partitions_for_topic(topic) or ()
            self._inner.assign([TopicPartition(topic, each) for each in partitions])
            self._inner.seek_to_beginning()

    def poll(self, count: int) -> list[Record]:
        polled = self._inner.poll(POLL_MS, max_records=count)
        return [record_of(each) for records in polled.values() for each in records]

    def commit(self) -> None:
        self._inner.commit()

    def commit_in(self, producer: Producer) -> None:
        assert isinstance(producer, KafkaPythonProducer)
        positions = {
            each: OffsetAndMetadata(self._inner.position(each), "", -1)
            for each in self._inner.assignment()
        }
        producer.inner.send_offsets_to_transaction(positions, self._inner.group_metadata())

    def rewind(self) -> None:
        for each in self._inner.assignment():
            self._inner.seek(each, self._inner.committed(each) or 0)

    def close(self) -> None:
        self._inner.close()


class KafkaPython:
    def producer(self, order: Order, transactional_id: str | None = None) -> Producer:
        return KafkaPythonProducer(order, transactional_id)

    def consumer(self, order: Order, group: str | None, read_committed: bool) -> Consumer:
        return KafkaPythonConsumer(order, group, read_committed)

    def admin(self, order: Order) -> Answer:
        topic = order["topic"]
        client = KafkaAdminClient(bootstrap_servers=order["bootstrap"])
        new = {topic: {"num_partitions": 2, "configs": {"retention.ms": "1000"}}}
        client.create_topics(new)
        try:
            client.create_topics(new)
            created_again = 0
        except TopicAlreadyExistsError as error:
            created_again = error.errno
        client.create_partitions({topic: 5})
        (described,) = client.describe_topics([topic])
        before = retention(client, topic)
        client.alter_configs([resource(topic, {"retention.ms": "2000"})])
        after = retention(client, topic)
        groups = client.describe_groups([order["group"]])
        client.delete_topics([topic])
        answer = {
            "created_again": created_again,
            "partitions": len(described["partitions"]),
            "retention_before": before,
            "retention_after": after,
            "group_state": groups[order["group"]]["group_state"],
            "deleted": topic not in client.list_topics(),
        }
        client.close()
        return answer

    def error_code(self, error: Exception) -> int:
        return getattr(error, "errno", 0) if isinstance(error, KafkaError) else 0


def resource(topic: str, configs: dict[str, Any] | None) -> ConfigResource:
    return ConfigResource(ConfigResourceType.TOPIC, topic, configs)


def retention(client: KafkaAdminClient, topic: str) -> str:
    described = client.describe_configs([resource(topic, None)])
    value: str = described["topic"][topic]["retention.ms"]["value"]
    return value


if __name__ == "__main__":
    serve(KafkaPython())
