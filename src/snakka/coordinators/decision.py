"""What a machine answers to a command: records in, records out.

A command reads state and returns a Decision. Its records are appended, then replayed, and every
response in it is held back until they are committed. A response that only a later command can give
(a JoinGroup waits for the others) is a Later now, and an Answer in that command's decision.
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Response

R = TypeVar("R")


class NewRecord(NamedTuple):
    """A record to be written; without a value it is a tombstone."""

    key: CoordinatorKey
    value: CoordinatorValue | None = None
    version: int = 0


class WrittenRecord(NamedTuple):
    """A record of the log, and where it is."""

    key: CoordinatorKey
    value: CoordinatorValue | None
    offset: int
    producer_id: int


class Transaction(NamedTuple):
    """The producer in whose transaction records are written."""

    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class Later:
    """Stands for a response that a later decision brings as the Answer of the same token."""

    token: int


class Answer(NamedTuple):
    """The response to an earlier command."""

    token: int
    response: Response


@dataclass(frozen=True, slots=True)
class Decision(Generic[R]):
    """A command's response, and what is to be written before anybody hears of it."""

    response: R | Later
    records: tuple[NewRecord, ...] = ()
    answers: tuple[Answer, ...] = ()
    transaction: Transaction | None = None
    effects: tuple[object, ...] = ()  # for the machine's own shell, once all of it is committed
