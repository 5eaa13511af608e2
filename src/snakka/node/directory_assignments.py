"""Tells the controller which log directories this broker's replicas are in (KIP-858).

What is said last of a replica counts. All that waits goes into one request, of which there is one
at a time; what the controller does not take is asked again later.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final, NamedTuple

from snakka.apis.context import Controller
from snakka.controller.decision import RefusedError
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)
from snakka.protocol.types import Uuid

log = logging.getLogger(__name__)

_VERSION: Final = 0
_REPLICAS_PER_REQUEST_MAX: Final = 2250
_RETRY_S: Final = 0.1
_RETRY_S_MAX: Final = 10.0
_GONE: Final = (
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)


class _Key(NamedTuple):
    topic_id: Uuid
    partition: int


class _Assignment(NamedTuple):
    directory_id: Uuid
    taken: asyncio.Future[None]


class DirectoryAssignments:
    """What the controller has yet to be told."""

    def __init__(
        self, controller: Controller, broker_id: int, find_broker_epoch: Callable[[], int]
    ) -> None:
        self._controller = controller
        self._broker_id = broker_id
        self._find_broker_epoch = find_broker_epoch
        self._waiting: dict[_Key, _Assignment] = {}
        self._is_waiting = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Assignments are told inside."""
        task = asyncio.get_running_loop().create_task(self._run())
        try:
            yield
        finally:
            task.cancel()

    def assign(self, topic_id: Uuid, index: int, directory_id: Uuid) -> asyncio.Future[None]:
        """Done once the controller has taken it; cancelled where it is superseded, or in vain."""
        key = _Key(topic_id, index)
        taken = asyncio.get_running_loop().create_future()
        if (superseded := self._waiting.get(key)) is not None:
            superseded.taken.cancel()
        self._waiting[key] = _Assignment(directory_id, taken)
        self._is_waiting.set()
        return taken

    async def _run(self) -> None:
        retry_s = _RETRY_S
        while True:
            await self._is_waiting.wait()
            asked = dict(islice(self._waiting.items(), _REPLICAS_PER_REQUEST_MAX))
            if await self._ask(asked):
                retry_s = _RETRY_S
            else:
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, _RETRY_S_MAX)
            if not self._waiting:
                self._is_waiting.clear()

    async def _ask(self, asked: dict[_Key, _Assignment]) -> bool:
        """One request; False where something of it has to be asked again."""
        try:
            answer = await self._controller.ask(
                self._request(asked), _VERSION, AssignReplicasToDirsResponse
            )
        except RefusedError as error:
            log.warning("cannot tell the controller of log directories: %r", error)
            return False
        if answer.error_code:
            reason = ErrorCode(answer.error_code).message
            log.warning("the controller does not take log directories: %s", reason)
            return False
        codes = {
            _Key(topic.topic_id, each.partition_index): ErrorCode(each.error_code)
            for directory in answer.directories
            for topic in directory.topics
            for each in topic.partitions
        }
        finished = [self._finish(key, asked[key], codes.get(key)) for key in asked]
        return all(finished)

    def _finish(self, key: _Key, assignment: _Assignment, code: ErrorCode | None) -> bool:
        if code is not ErrorCode.NONE and code not in _GONE:
            return False
        if self._waiting.get(key) is assignment:
            del self._waiting[key]
        if assignment.taken.done():
            return True
        if code is ErrorCode.NONE:
            assignment.taken.set_result(None)
        else:
            assignment.taken.cancel()
        return True

    def _request(self, asked: dict[_Key, _Assignment]) -> AssignReplicasToDirsRequest:
        by_directory: dict[Uuid, dict[Uuid, list[int]]] = defaultdict(lambda: defaultdict(list))
        for key, assignment in asked.items():
            by_directory[assignment.directory_id][key.topic_id].append(key.partition)
        return AssignReplicasToDirsRequest(
            broker_id=self._broker_id,
            broker_epoch=self._find_broker_epoch(),
            directories=[
                RequestDirectoryData(id=directory_id, topics=_topics(topics.items()))
                for directory_id, topics in by_directory.items()
            ],
        )


def _topics(topics: Iterable[tuple[Uuid, list[int]]]) -> list[RequestTopicData]:
    return [
        RequestTopicData(
            topic_id=topic_id,
            partitions=[RequestPartitionData(partition_index=index) for index in indexes],
        )
        for topic_id, indexes in topics
    ]
