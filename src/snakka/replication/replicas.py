"""All replicas of this broker, by topic id and by name.

Not here: which there are to be (the metadata log says so), log directories (storage).
"""

import asyncio
from collections.abc import Iterable, Iterator

from snakka.protocol.types import Uuid, format_uuid
from snakka.replication.arrivals import Arrivals
from snakka.replication.errors import (
    ReplicaOfflineError,
    UnknownPartitionError,
    UnknownTopicIdError,
)
from snakka.replication.replica import Replica
from snakka.storage.log_state import Appended


class Replicas:
    """The partitions that this broker has."""

    def __init__(self) -> None:
        self.arrivals = Arrivals()
        self._by_name: dict[tuple[str, int], Replica] = {}
        self._offline: dict[tuple[str, int], Uuid] = {}  # in log directories that have failed
        self._names: dict[Uuid, str] = {}
        self._indexes: dict[str, set[int]] = {}  # of each topic's partitions, also those offline

    def __iter__(self) -> Iterator[Replica]:
        return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)

    def find(self, topic: str, index: int) -> Replica | None:
        return self._by_name.get((topic, index))

    def get(self, topic: str, index: int) -> Replica:
        replica = self._by_name.get((topic, index))
        if replica is None:
            if (topic, index) in self._offline:
                raise ReplicaOfflineError(f"the log directory of {topic}-{index} has failed")
            raise UnknownPartitionError(f"no replica of {topic}-{index} is here")
        return replica

    def get_by_id(self, topic_id: Uuid, index: int) -> Replica:
        name = self._names.get(topic_id)
        if name is None:
            raise UnknownTopicIdError(f"no topic has id {format_uuid(topic_id)}")
        return self.get(name, index)

    def add(self, replica: Replica) -> None:
        self._by_name[replica.topic, replica.index] = replica
        self._offline.pop((replica.topic, replica.index), None)
        self._names[replica.topic_id] = replica.topic
        self._indexes.setdefault(replica.topic, set()).add(replica.index)

    def remove(self, topic: str, index: int) -> Replica | None:
        replica = self._by_name.pop((topic, index), None)
        self._offline.pop((topic, index), None)
        if replica is not None:
            replica.waiters.fail(UnknownPartitionError(f"{topic}-{index} was deleted"))
        left = self._indexes.get(topic, set())
        left.discard(index)
        if not left:
            self._indexes.pop(topic, None)
            self._names = {id_: name for id_, name in self._names.items() if name != topic}
        return replica

    def is_offline(self, topic: str, index: int) -> bool:
        return (topic, index) in self._offline

    def take_offline(self, topic: str, index: int, topic_id: Uuid) -> Replica | None:
        """The partition's log is out of reach until a restart; the replica that it had."""
        self._offline[topic, index] = topic_id
        self._names[topic_id] = topic
        self._indexes.setdefault(topic, set()).add(index)
        replica = self._by_name.pop((topic, index), None)
        if replica is not None:
            reason = f"the log directory of {topic}-{index} has failed"
            replica.waiters.fail(ReplicaOfflineError(reason))
        return replica

    def log_start_moved(self, topic: str, index: int) -> None:
        """Retention has removed records of this partition."""
        replica = self._by_name.get((topic, index))
        if replica is not None:
            replica.waiters.on_changed()


async def wait_for_commit(appends: Iterable[tuple[Replica, Appended]], timeout_ms: int) -> None:
    """Returns once all appends are committed; TimeoutError where that takes too long."""
    loop = asyncio.get_running_loop()
    futures = []
    for replica, appended in appends:
        if appended.last_offset >= replica.log.high_watermark:
            future = loop.create_future()
            replica.waiters.add_offset(appended.last_offset + 1, future)
            futures.append(future)
    if futures:
        done, pending = await asyncio.wait(futures, timeout=timeout_ms / 1000)
        for future in done:
            future.result()
        if pending:
            raise TimeoutError(f"not committed within {timeout_ms} ms")
