"""What the five APIs of the share coordinator have in common: share partitions by topic.

Each share partition is answered for itself: they may be kept in different partitions of
`__share_group_state`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypedDict, TypeVar

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.share_state.refusals import ShareStateError
from snakka.coordinators.share_state.state import SharePartition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.types import Uuid


class Asked(Protocol):
    """Something about one partition."""

    @property
    def partition(self) -> int: ...


_P = TypeVar("_P", bound=Asked)
_PC = TypeVar("_PC", bound=Asked, covariant=True)
_R = TypeVar("_R")


class _Topic(Protocol[_PC]):
    @property
    def topic_id(self) -> Uuid: ...

    @property
    def partitions(self) -> Sequence[_PC]: ...


class Outcome(TypedDict):
    """The fields of a result that every API has."""

    partition: int
    error_code: int
    error_message: str | None


async def by_topic(
    group_id: str,
    topics: Sequence[_Topic[_P]],
    ask: Callable[[SharePartition, _P], Awaitable[_R]],
) -> list[tuple[Uuid, list[_R]]]:
    """Nothing at all, where the request leaves out what it is about."""
    if not group_id or not all(topic.partitions for topic in topics):
        return []
    return [
        (
            topic.topic_id,
            await asyncio.gather(
                *(
                    ask(SharePartition(group_id, topic.topic_id, each.partition), each)
                    for each in topic.partitions
                )
            ),
        )
        for topic in topics
    ]


def done(where: SharePartition) -> Outcome:
    return Outcome(partition=where.partition, error_code=ErrorCode.NONE, error_message=None)


def refusal(where: SharePartition, error: CoordinatorError) -> Outcome:
    message = error.message if isinstance(error, ShareStateError) else error.code.message
    return Outcome(partition=where.partition, error_code=error.code, error_message=message)
