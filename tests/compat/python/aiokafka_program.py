"""aiokafka, as the tests drive it: its event loop runs in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, Final, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code
from aiokafka.structs import TopicPartition

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

TIMEOUT_S: Final = 60
POLL_MS: Final = 200
REQUEST_BYTES_MAX: Final = 5_000_000
_T = TypeVar("_T")


class LoopThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(TIMEOUT_S)


class AiokafkaProducer:
    def __init__(self, loop: LoopThread, order: Order, transactional_id: str | None) -> None:
        self._loop = loop
        loop.run(self._start(order, transactional_id))

    async def _start(self, order: Order, transactional_id: str | None) -> None:
        self.inner = AIOKafkaProducer(
            bootstrap_servers=order["bootstrap"],
            acks="all" if order["acks"] == -1 else order["acks"],
            enable_idempotence=order["acks"] == -1,
            compression_type=None if order["codec"] == "none" else order["codec"],
            max_request_size=REQUEST_BYTES_MAX,
            transactional_id=transactional_id,
        )
        await self.inner.start()

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        return self._loop.run(self._send(topic, records))

    async def _send(self, topic: str, records: Sequence[Record]) -> list[int]:
        sent = [
            await self.inner.send(
                topic,
                utf8(each["value"]),
                utf8(each.get("key")),
                each["partition"],
                each.get("timestamp"),
                pairs(each.get("headers", ())),
            )
            for each in records
        ]
        results = await asyncio.gather(*sent)
        return [-1 if each is None else each.offset for each in results]

    def begin(self) -> None:
        self._loop.run(self.inner.begin_transaction())

    def commit(self) -> None:
        self._loop.run(self.inner.commit_transaction())

    def abort(self) -> None:
        self._loop.run(self.inner.abort_transaction())

    def close(self) -> None:
        self._loop.run(self.inner.stop())


class AiokafkaConsumer:
    def __init__(
        self, loop: LoopThread, order: Order, group: str | None, read_committed: bool
    ) -> None:
        self._loop = loop
        self._group = group
        loop.run(self._start(order, group, read_committed))

    async def _start(self, order: Order, group: str | None, read_committed: bool) -> None:
        self._inner = AIOKafkaConsumer(
            order["topic"],
            bootstrap_servers=order["bootstrap"],
            group_id=group,
            isolation_level="read_committed" if read_committed else "read_uncommitted",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
        )
        await self._inner.start()

    def poll(self, count: int) -> list[Record]:
        polled = self._loop.run(self._inner.getmany(timeout_ms=POLL_MS, max_records=count))
        return [record_of(each) for records in polled.values() for each in records]

    def commit(self) -> None:
        self._loop.run(self._inner.commit())

    def commit_in(self, producer: Producer) -> None:
        assert isinstance(producer, AiokafkaProducer)
        positions = self._loop.run(self._positions())
        self._loop.run(producer.inner.send_offsets_to_transaction(positions, self._group))

    async def _positions(self) -> dict[TopicPartition, int]:
        return {each: await self._inner.position(each) for each in self._inner.assignment()}

    def rewind(self) -> None:
        self._loop.run(self._rewind())

    async def _rewind(self) -> None:
        for each in self._inner.assignment():
            self._inner.seek(each, await self._inner.committed(each) or 0)

    def close(self) -> None:
        self._loop.run(self._inner.stop())


class Aiokafka:
    def __init__(self) -> None:
        self._loop = LoopThread()

    def producer(self, order: Order, transactional_id: str | None = None) -> Producer:
        return AiokafkaProducer(self._loop, order, transactional_id)

    def consumer(self, order: Order, group: str | None, read_committed: bool) -> Consumer:
        return AiokafkaConsumer(self._loop, order, group, read_committed)

    def admin(self, order: Order) -> Answer:
        return self._loop.run(administer(order))

    def error_code(self, error: Exception) -> int:
        return getattr(error, "errno", 0) if isinstance(error, KafkaError) else 0


async def administer(order: Order) -> Answer:
    topic = order["topic"]
    client = AIOKafkaAdminClient(bootstrap_servers=order["bootstrap"])
    await client.start()
    try:
        new = NewTopic(topic, 2, 1, topic_configs={"retention.ms": "1000"})
        created, again = [await client.create_topics([new]) for _ in range(2)]
        raise_for(created.topic_errors[0][1])
        await client.create_partitions({topic: NewPartitions(5)})
        (described,) = await client.describe_topics([topic])
        before = await retention(client, topic)
        raised = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "2000"})
        await client.alter_configs([raised])
        after = await retention(client, topic)
        (groups,) = await client.describe_consumer_groups([order["group"]])
        await client.delete_topics([topic])
        return {
            "created_again": again.topic_errors[0][1],
            "partitions": len(described["partitions"]),
            "retention_before": before,
            "retention_after": after,
            "group_state": groups.groups[0][2],
            "deleted": topic not in await client.list_topics(),
        }
    finally:
        await client.close()


async def retention(client: AIOKafkaAdminClient, topic: str) -> str:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": None})
    (response,) = await client.describe_configs([resource])
    (entries,) = [each[4] for each in response.resources]
    value: str = entries[0][1]
    return value


def raise_for(code: int) -> None:
    if code:
        raise for_code(code)


if __name__ == "__main__":
    serve(Aiokafka())
