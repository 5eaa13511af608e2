"""A member of a consumer group in a process of its own, which says what it owns and receives.

`python -m tests.compat.group_member BOOTSTRAP TOPIC GROUP PROTOCOL SESSION_MS` writes a line an
event, with the time of this machine's monotonic clock: `assigned`, `revoked` and `lost` with
partitions, `received` with values, before their offsets can be committed, `error` with a name, and
`leaving` and `left` around its end, which is on SIGTERM.
"""

import os
import signal
import sys
import time
from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, TopicPartition

_POLL_S = 0.1
_BATCH = 100


class Member:
    def __init__(self, bootstrap: str, topic: str, group: str, protocol: str, session: str) -> None:
        settings: dict[str, object] = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.offset.store": False,
            "auto.commit.interval.ms": 500,
            "fetch.wait.max.ms": 200,
            "log_level": 0,
        }
        if protocol == "classic":
            settings |= {
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": int(session),
                "heartbeat.interval.ms": int(session) // 20,
            }
        self._consumer = Consumer(settings)
        self._consumer.subscribe(
            [topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        self._is_leaving = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._leave)
        while not self._is_leaving:
            polled = self._consumer.consume(_BATCH, _POLL_S)
            for error in filter(None, (each.error() for each in polled)):
                say("error", error.name())
            messages = [each for each in polled if each.error() is None]
            if messages:
                say("received", b",".join(each.value() or b"" for each in messages).decode())
            for message in messages:
                self._consumer.store_offsets(message)
        say("leaving", "")
        self._consumer.close()
        say("left", "")

    def _leave(self, signal_number: int, frame: object) -> None:
        self._is_leaving = True

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        say("assigned", named(partitions))

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        # With nothing to commit, or as no member any more: then others receive those values again.
        with suppress(KafkaException):
            consumer.commit(asynchronous=False)
        say("revoked", named(partitions))

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        say("lost", named(partitions))


def named(partitions: list[TopicPartition]) -> str:
    return ",".join(str(each.partition) for each in partitions)


def say(event: str, what: str) -> None:
    """In one write, past all buffers: what was said is known even of a member that is killed."""
    os.write(1, f"{event} {time.monotonic_ns()} {what}\n".encode())


if __name__ == "__main__":
    Member(*sys.argv[1:]).run()
