"""Copies a topic, one transaction after another, until it is killed: consume, transform, produce.

    python copier.py BOOTSTRAP SOURCE SINK PARTITIONS RECORDS

A transaction has up to RECORDS of them.

It goes on where the last committed transaction ends, and writes a dot for each that it begins.
What librdkafka cannot get over ends it, and whoever started it is to start it again.
"""

import os
import random
import sys

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

NAME = "copier"
TIMEOUT_S = 20
# A broker that is away comes back under the same name, and soon. Where librdkafka 2.16 begins anew
# with the bootstrap servers instead, send_offsets_to_transaction waits for ever on a broker that it
# has given up.
STEADY = {"reconnect.backoff.max.ms": 200, "metadata.recovery.strategy": "none"}


class Copier:
    """One life of it."""

    def __init__(
        self, bootstrap: str, source: str, sink: str, partitions: int, records_max: int
    ) -> None:
        self._sink = sink
        self._records_max = records_max
        self._random = random.Random()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": NAME,
                **STEADY,
                "log_level": 0,
            }
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": NAME,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                **STEADY,
                "log_level": 0,
            }
        )
        self._assigned = [TopicPartition(source, index) for index in range(partitions)]

    def run(self) -> None:
        self._producer.init_transactions(TIMEOUT_S)  # nobody else is at work from here on
        self._go_to_committed()
        while True:
            messages = self._consumer.consume(self._random.randint(1, self._records_max), 0.1)
            if messages:
                self._copy(messages)

    def _go_to_committed(self) -> None:
        committed = self._consumer.committed(self._assigned, TIMEOUT_S)
        for each in committed:
            each.offset = max(each.offset, 0)
        self._consumer.assign(committed)

    def _copy(self, messages: list[Message]) -> None:
        producer = self._producer
        producer.begin_transaction()
        os.write(1, b".")
        for message in messages:
            if message.error() is not None:
                raise KafkaException(message.error())
            producer.produce(self._sink, message.value(), key=message.key())
        positions = self._consumer.position(self._assigned)
        known = [each for each in positions if each.offset >= 0]
        producer.send_offsets_to_transaction(
            known, self._consumer.consumer_group_metadata(), TIMEOUT_S
        )
        if self._random.random() < 0.1:
            producer.abort_transaction(TIMEOUT_S)
            self._go_to_committed()
        else:
            producer.commit_transaction(TIMEOUT_S)


if __name__ == "__main__":
    _, at, from_, to, count, limit = sys.argv
    Copier(at, from_, to, int(count), int(limit)).run()
