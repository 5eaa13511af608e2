"""The members of a classic group, and what is counted about all of them at once.

Invariant: instance ids, supported protocols and joined members are counted here only, with every
change of a member, so that no index outlives what it points to.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class SupportedProtocol(NamedTuple):
    """An assignment strategy that a member offers, and what it says to the leader about itself."""

    name: str
    metadata: bytes


@dataclass(slots=True)
class Member:
    """A member. Once a generation is stored, all that is not marked soft is hard."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[SupportedProtocol, ...]
    assignment: bytes = b""
    is_new: bool = False  # soft: has not been in a generation yet
    join_token: int | None = None  # soft: of the JoinGroup that waits
    sync_token: int | None = None  # soft: of the SyncGroup that waits

    def metadata(self, protocol: str | None) -> bytes:
        return next((each.metadata for each in self.protocols if each.name == protocol), b"")


class Members:
    """Members by their ids, in the order in which they came."""

    def __init__(self) -> None:
        self._by_id: dict[str, Member] = {}
        self._ids_by_instance: dict[str, str] = {}
        self._supporters: Counter[str] = Counter()
        self._joined_count = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._by_id.values()))

    def __contains__(self, member_id: str) -> bool:
        return member_id in self._by_id

    @property
    def joined_count(self) -> int:
        """Those whose JoinGroup waits for the next generation."""
        return self._joined_count

    def find(self, member_id: str) -> Member | None:
        return self._by_id.get(member_id)

    def get(self, member_id: str) -> Member:
        return self._by_id[member_id]

    def find_static_id(self, instance_id: str | None) -> str | None:
        """The id of the member that an instance is right now (KIP-345)."""
        return None if instance_id is None else self._ids_by_instance.get(instance_id)

    def add(self, member: Member) -> None:
        if member.instance_id is not None:
            self._ids_by_instance[member.instance_id] = member.member_id
        self._by_id[member.member_id] = member
        self._count(member.protocols, 1)
        self._joined_count += member.join_token is not None

    def remove(self, member_id: str) -> Member | None:
        member = self._by_id.pop(member_id, None)
        if member is None:
            return None
        if self._ids_by_instance.get(member.instance_id or "") == member_id:
            del self._ids_by_instance[member.instance_id or ""]
        self._count(member.protocols, -1)
        self._joined_count -= member.join_token is not None
        return member

    def update_protocols(self, member: Member, protocols: tuple[SupportedProtocol, ...]) -> None:
        self._count(member.protocols, -1)
        member.protocols = protocols
        self._count(protocols, 1)

    def park_join(self, member: Member, token: int) -> None:
        self._joined_count += member.join_token is None
        member.join_token = token

    def take_join(self, member: Member) -> int | None:
        """The token of the JoinGroup that waits, which is to be answered now."""
        token, member.join_token = member.join_token, None
        self._joined_count -= token is not None
        return token

    def support_any(self, names: Iterable[str]) -> bool:
        """Whether all members support one of these protocols."""
        return any(self._supporters[name] == len(self._by_id) for name in names)

    def select_protocol(self) -> str:
        """The protocol that most members like best of those that all of them support."""
        first = next(iter(self._by_id.values()))
        candidates = [
            each.name for each in first.protocols if self._supporters[each.name] == len(self._by_id)
        ]
        votes = Counter(
            next(each.name for each in member.protocols if each.name in candidates)
            for member in self._by_id.values()
        )
        return max(candidates, key=lambda name: votes[name])

    def rebalance_timeout_ms(self) -> int:
        """The time that the slowest member asks for."""
        return max((each.rebalance_timeout_ms for each in self._by_id.values()), default=0)

    def _count(self, protocols: tuple[SupportedProtocol, ...], by: int) -> None:
        for name in {each.name for each in protocols}:
            self._supporters[name] += by
            if not self._supporters[name]:
                del self._supporters[name]
