"""A member of a consumer group, as a value: all of it is hard."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from snakka.coordinators.groups.classic.members import SupportedProtocol
from snakka.protocol.types import Uuid

LEAVE_EPOCH: Final = -1
LEAVE_FOR_A_WHILE_EPOCH: Final = -2  # a static member that means to come back


class Partition(NamedTuple):
    """A partition, by its topic's id."""

    topic_id: Uuid
    partition: int


Partitions: TypeAlias = frozenset[Partition]
NO_PARTITIONS: Final[Partitions] = frozenset()


class MemberState(IntEnum):
    """How far a member is on its way to its target; the numbers are in records."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2


class ClassicSupport(NamedTuple):
    """What is known of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[SupportedProtocol, ...]


class Expression(NamedTuple):
    """What a regular expression matched, of which version of the topics, and when."""

    topics: frozenset[str]
    version: int
    matched_at_ms: int


@dataclass(frozen=True, slots=True)
class Member:
    """What a member wants, and what it has."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    expression: str | None = None  # of topics in addition to those
    assignor: str | None = None
    rebalance_timeout_ms: int = -1
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: Partitions = NO_PARTITIONS
    revoking: Partitions = NO_PARTITIONS
    classic: ClassicSupport | None = None  # of a member of the classic protocol

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == target_epoch
