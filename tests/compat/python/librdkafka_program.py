"""librdkafka by confluent-kafka, as the tests drive it."""

from collections.abc import Sequence
from typing import Any, Final

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from tests.compat.python.orders import (
    Answer,
    Consumer,
    Order,
    Producer,
    Record,
    pairs,
    serve,
    text,
    texts,
    utf8,
)

TIMEOUT_S: Final = 30
POLL_S: Final = 0.2
MESSAGE_BYTES_MAX: Final = 5_000_000


def settings(order: Order, **more: Any) -> dict[str, Any]:
    return {"bootstrap.servers": order["bootstrap"], "log_level": 0} | {
        name.replace("_", "."): value for name, value in more.items()
    }


class LibrdkafkaProducer:
    def __init__(self, order: Order, transactional_id: str | None) -> None:
        configured = settings(
            order,
            acks=order["acks"],
            enable_idempotence=order["acks"] == -1,
            compression_type=order["codec"],
            linger_ms=0,
            message_max_bytes=MESSAGE_BYTES_MAX,
        )
        if transactional_id is not None:
            configured["transactional.id"] = transactional_id
        self.inner = confluent_kafka.Producer(configured)
        if transactional_id is not None:
            self.inner.init_transactions(TIMEOUT_S)

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        offsets = [-1] * len(records)
        failures: list[KafkaError] = []

        def note(index: int, error: KafkaError | None, message: confluent_kafka.Message) -> None:
            if error is not None:
                failures.append(error)
            else:
                offsets[index] = message.offset() or 0

        for index, each in enumerate(records):
            self.inner.produce(
                topic,
                utf8(each["value"]),
                utf8(each.get("key")),
                each["partition"],
                timestamp=each.get("timestamp", 0),
                headers=list(pairs(each.get("headers", ()))),
                on_delivery=lambda error, message, index=index: note(index, error, message),
            )
        self.inner.flush(TIMEOUT_S)
        if failures:
            raise KafkaException(failures[0])
        return offsets

    def begin(self) -> None:
        self.inner.begin_transaction()

    def commit(self) -> None:
        self.inner.commit_transaction(TIMEOUT_S)

    def abort(self) -> None:
        self.inner.abort_transaction(TIMEOUT_S)

    def close(self) -> None:
        self.inner.flush(TIMEOUT_S)


class LibrdkafkaConsumer:
    def __init__(self, order: Order, group: str | None, read_committed: bool) -> None:
        configured = settings(
            order,
            group_id=group or "nobody",
            isolation_level="read_committed" if read_committed else "read_uncommitted",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        if group is not None and order.get("protocol") == "consumer":
            configured["group.protocol"] = "consumer"
        elif group is not None:
            configured["heartbeat.interval.ms"] = 200
        self._inner = confluent_kafka.Consumer(configured)
        topic = order["topic"]
        if group is not None:
            self._inner.subscribe([topic])
        else:
            partitions = self._inner.list_topics(topic, TIMEOUT_S).topics[topic].partitions
            self._inner.assign([TopicPartition(topic, each, 0) for each in partitions])

    def poll(self, count: int) -> list[Record]:
        records = []
        for message in self._inner.consume(count, POLL_S):
            if message.error() is not None:
                raise KafkaException(message.error())
            records.append(
                {
                    "partition": message.partition(),
                    "offset": message.offset(),
                    "key": text(message.key()),
                    "value": text(message.value()),
                    "headers": texts(message.headers()),
                    "timestamp": message.timestamp()[1],
                }
            )
        return records

    def commit(self) -> None:
        self._inner.commit(asynchronous=False)

    def commit_in(self, producer: Producer) -> None:
        assert isinstance(producer, LibrdkafkaProducer)
        positions = self._inner.position(self._inner.assignment())
        whose = self._inner.consumer_group_metadata()
        producer.inner.send_offsets_to_transaction(positions, whose, TIMEOUT_S)

    def rewind(self) -> None:
        for each in self._inner.committed(self._inner.assignment(), TIMEOUT_S):
            self._inner.seek(TopicPartition(each.topic, each.partition, max(0, each.offset)))

    def close(self) -> None:
        self._inner.close()


class Librdkafka:
    def producer(self, order: Order, transactional_id: str | None = None) -> Producer:
        return LibrdkafkaProducer(order, transactional_id)

    def consumer(self, order: Order, group: str | None, read_committed: bool) -> Consumer:
        return LibrdkafkaConsumer(order, group, read_committed)

    def admin(self, order: Order) -> Answer:
        topic = order["topic"]
        client = AdminClient(settings(order))
        new = NewTopic(topic, 2, 1, config={"retention.ms": "1000"})
        client.create_topics([new])[topic].result(TIMEOUT_S)
        try:
            client.create_topics([new])[topic].result(TIMEOUT_S)
            created_again = 0
        except KafkaException as error:
            created_again = self.error_code(error)
        client.create_partitions([NewPartitions(topic, 5)])[topic].result(TIMEOUT_S)
        partitions = client.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions
        before = retention(client, topic)
        entry = ConfigEntry("retention.ms", "2000", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        client.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)
        after = retention(client, topic)
        groups = client.describe_consumer_groups([order["group"]])
        state = groups[order["group"]].result(TIMEOUT_S).state.name
        client.delete_topics([topic])[topic].result(TIMEOUT_S)
        return {
            "created_again": created_again,
            "partitions": len(partitions),
            "retention_before": before,
            "retention_after": after,
            "group_state": state.capitalize(),
            "deleted": topic not in client.list_topics(timeout=TIMEOUT_S).topics,
        }

    def error_code(self, error: Exception) -> int:
        if isinstance(error, KafkaException):
            code: int = error.args[0].code()
            return code
        return 0


def retention(client: AdminClient, topic: str) -> str:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    configs = client.describe_configs([resource])[resource].result(TIMEOUT_S)
    value: str = configs["retention.ms"].value
    return value


if __name__ == "__main__":
    serve(Librdkafka())
