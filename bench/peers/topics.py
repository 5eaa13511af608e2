"""Topics of a running broker, through librdkafka's administration."""

import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.peers.running import START_TIMEOUT_S, BrokerDiedError, Running

_numbers = itertools.count(1)
_TIMEOUT_S: Final = 120


def wait_until_serving(broker: Running) -> None:
    """Until it tells a client which brokers there are."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        broker.check()
        # A new client each time: one that was told of no broker waits for seconds to ask again.
        with suppress(KafkaException):
            if _admin(broker).list_topics(timeout=1).brokers:
                return
    raise BrokerDiedError(f"{broker.peer.name} names no brokers")


@contextmanager
def topic(
    broker: Running, partitions: int = 1, config: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A new one that can be produced to, deleted in the end."""
    name = f"bench-{next(_numbers)}"
    if not broker.peer.is_broker:
        yield name
        return
    create(broker, name, partitions, config)
    yield name
    admin = _admin(broker)
    admin.delete_topics([name], operation_timeout=_TIMEOUT_S)[name].result(_TIMEOUT_S)


def create(
    broker: Running, name: str, partitions: int, config: Mapping[str, str] | None = None
) -> None:
    admin = _admin(broker)
    wanted = NewTopic(name, partitions, 1, config=dict(config or {}))
    admin.create_topics([wanted], operation_timeout=_TIMEOUT_S)[name].result(_TIMEOUT_S)
    deadline = time.monotonic() + _TIMEOUT_S
    while not _is_led(admin, name, partitions):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{broker.peer.name} has no leaders for {name}")
        time.sleep(0.01)


def _is_led(admin: AdminClient, name: str, partitions: int) -> bool:
    found = admin.list_topics(name, timeout=30).topics.get(name)
    leaders = [each.leader for each in found.partitions.values()] if found else []
    return len(leaders) == partitions and min(leaders) >= 0


def _admin(broker: Running) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
