"""The deadlines of classic groups. All soft: another leader starts them anew."""

from typing import NamedTuple, TypeAlias

from snakka.coordinators.deadlines import Deadlines
from snakka.coordinators.groups.classic.group import ClassicGroup
from snakka.coordinators.groups.classic.members import Member
from snakka.coordinators.groups.consumer.sessions import (
    ConsumerSessionEnd,
    DowngradeCheck,
    DowngradedRebalance,
    RevocationEnd,
)


class SessionEnd(NamedTuple):
    """A member, or an id given out, has not been heard of."""

    group_id: str
    member_id: str
    kind: str = "session"


class JoinEnd(NamedTuple):
    """The time to join the next generation is over."""

    group_id: str
    kind: str = "join"


class SyncEnd(NamedTuple):
    """The time to ask for the work of this generation is over."""

    group_id: str
    kind: str = "sync"


class OffsetCheck(NamedTuple):
    """Offsets may have expired."""

    kind: str = "offsets"


Due: TypeAlias = (
    SessionEnd
    | JoinEnd
    | SyncEnd
    | OffsetCheck
    | ConsumerSessionEnd
    | RevocationEnd
    | DowngradeCheck
    | DowngradedRebalance
)


class Sessions:
    """What members and groups have time for."""

    def __init__(self) -> None:
        self.deadlines: Deadlines[Due] = Deadlines()

    def renew(self, group: ClassicGroup, member: Member, now_ms: int) -> None:
        """The member has been heard of."""
        at_ms = now_ms + member.session_timeout_ms
        self.deadlines.set(SessionEnd(group.group_id, member.member_id), at_ms)

    def allow(self, group: ClassicGroup, member_id: str, until_ms: int) -> None:
        """A member that cannot send heartbeats yet."""
        self.deadlines.set(SessionEnd(group.group_id, member_id), until_ms)

    def end(self, group: ClassicGroup, member_id: str) -> None:
        self.deadlines.clear(SessionEnd(group.group_id, member_id))

    def end_all(self, group: ClassicGroup) -> None:
        """The group goes."""
        for member in group.members:
            self.end(group, member.member_id)
        for member_id in group.pending_joins:
            self.end(group, member_id)
        self.deadlines.clear(JoinEnd(group.group_id))
        self.deadlines.clear(SyncEnd(group.group_id))
