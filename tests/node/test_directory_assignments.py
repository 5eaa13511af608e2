"""What the controller is told of log directories, and when it is told again."""

import asyncio
from collections.abc import Callable
from typing import TypeVar, cast

import pytest

from snakka.apis.context import Sender
from snakka.node.directory_assignments import DirectoryAssignments
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Uuid

TOPIC, A, B = Uuid(b"t" * 16), Uuid(b"a" * 16), Uuid(b"b" * 16)

R = TypeVar("R", bound=Response)
Answer = Callable[[int], ErrorCode]


class FakeController:
    """Answers each partition with a code, after `refusals` requests with a code for all."""

    def __init__(self, answer: Answer = lambda _: ErrorCode.NONE, refusals: int = 0) -> None:
        self.asked: list[dict[Uuid, list[int]]] = []
        self._answer = answer
        self._refusals = refusals

    async def ask(
        self, request: Request, version: int, response: type[R], sender: Sender | None = None
    ) -> R:
        assert isinstance(request, AssignReplicasToDirsRequest)
        assert (request.broker_id, request.broker_epoch) == (1, 55)
        self.asked.append(
            {
                each.id: [p.partition_index for topic in each.topics for p in topic.partitions]
                for each in request.directories
            }
        )
        await asyncio.sleep(0)
        self._refusals -= 1
        if self._refusals >= 0:
            return cast(R, _response(ErrorCode.STALE_BROKER_EPOCH, []))
        directories = [
            ResponseDirectoryData(
                id=each.id,
                topics=[
                    ResponseTopicData(
                        topic_id=topic.topic_id,
                        partitions=[
                            ResponsePartitionData(
                                partition_index=p.partition_index,
                                error_code=self._answer(p.partition_index),
                            )
                            for p in topic.partitions
                        ],
                    )
                    for topic in each.topics
                ],
            )
            for each in request.directories
        ]
        return cast(R, _response(ErrorCode.NONE, directories))


def _response(
    code: ErrorCode, directories: list[ResponseDirectoryData]
) -> AssignReplicasToDirsResponse:
    return AssignReplicasToDirsResponse(
        throttle_time_ms=0, error_code=code, directories=directories
    )


def test_all_that_waits_goes_into_one_request() -> None:
    async def scenario() -> None:
        controller = FakeController()
        assignments = DirectoryAssignments(controller, 1, lambda: 55)
        async with assignments.running():
            await asyncio.gather(
                *(assignments.assign(TOPIC, n, A if n % 2 else B) for n in range(4))
            )
        assert controller.asked == [{B: [0, 2], A: [1, 3]}]

    asyncio.run(scenario())


def test_what_is_refused_is_asked_again() -> None:
    async def scenario() -> None:
        controller = FakeController(refusals=2)
        assignments = DirectoryAssignments(controller, 1, lambda: 55)
        async with assignments.running():
            await assignments.assign(TOPIC, 0, A)
        assert controller.asked == [{A: [0]}] * 3

    asyncio.run(scenario())


def test_the_last_word_counts() -> None:
    async def scenario() -> None:
        controller = FakeController()
        assignments = DirectoryAssignments(controller, 1, lambda: 55)
        superseded = assignments.assign(TOPIC, 0, A)
        async with assignments.running():
            await assignments.assign(TOPIC, 0, B)
        assert superseded.cancelled()
        assert controller.asked == [{B: [0]}]

    asyncio.run(scenario())


def test_a_partition_that_is_gone_is_not_asked_for_again() -> None:
    async def scenario() -> None:
        controller = FakeController(
            lambda n: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if n else ErrorCode.NONE
        )
        assignments = DirectoryAssignments(controller, 1, lambda: 55)
        async with assignments.running():
            gone, there = assignments.assign(TOPIC, 1, A), assignments.assign(TOPIC, 0, A)
            await there
            with pytest.raises(asyncio.CancelledError):
                await gone
        assert len(controller.asked) == 1

    asyncio.run(scenario())
