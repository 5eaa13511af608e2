"""What an answer says about who leads in which epoch, and what that changes here.

Not here: the messages' own content (voting.py, following.py and so on).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from snakka.protocol.error_codes import ErrorCode
from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Unattached
from snakka.quorum.transitions import become_follower, become_unattached
from snakka.quorum.voters import Endpoint


class LeaderHint(NamedTuple):
    leader_id: int | None
    epoch: int
    endpoints: tuple[Endpoint, ...] = ()


class NodeEndpoint(Protocol):
    """What the answers of all APIs call a node's endpoint."""

    @property
    def node_id(self) -> int: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...


class _Topic(Protocol):
    @property
    def partitions(self) -> Sequence[object]: ...


def has_partition(topics: Sequence[_Topic]) -> bool:
    """Whether an answer is about one partition, as every request is."""
    return len(topics) == 1 and len(topics[0].partitions) == 1


def leader_hint(
    quorum: Quorum, leader_id: int, epoch: int, nodes: Sequence[NodeEndpoint] = ()
) -> LeaderHint:
    """The hint of an answer; where it gives no endpoint, the voter set may know one."""
    if leader_id < 0:
        return LeaderHint(None, epoch)
    name = quorum.local.listener_name
    given = tuple(
        Endpoint(name, each.host, each.port) for each in nodes if each.node_id == leader_id
    )
    voter = quorum.voters.find(leader_id)
    return LeaderHint(leader_id, epoch, given or (() if voter is None else voter.endpoints))


def settle(quorum: Quorum, error_code: int, hint: LeaderHint, now_ms: int) -> bool:
    """Takes over what the answer says of the epoch. Whether its content is worth reading then.

    An answer from a past epoch says nothing any more.
    """
    if hint.epoch < quorum.epoch or error_code == ErrorCode.UNKNOWN_LEADER_EPOCH:
        return False
    if hint.epoch > quorum.epoch:
        enter_epoch(quorum, hint, now_ms)
        return False
    is_looking = quorum.leader_id is None or isinstance(quorum.role, Unattached)
    if hint.leader_id is not None and is_looking:
        follow(quorum, hint, now_ms)
    return error_code == ErrorCode.NONE


def enter_epoch(quorum: Quorum, hint: LeaderHint, now_ms: int) -> None:
    """A higher epoch, whose leader is followed if it can be reached."""
    if not follow(quorum, hint, now_ms):
        become_unattached(quorum, hint.epoch, now_ms)


def follow(quorum: Quorum, hint: LeaderHint, now_ms: int) -> bool:
    """Follows the leader of the hint, if that is another replica and known where."""
    if hint.leader_id in (None, quorum.local.key.id) or not hint.endpoints:
        return False
    if hint.epoch == quorum.epoch and quorum.leader_id not in (None, hint.leader_id):
        return False  # two leaders of one epoch: one of them is lying, and we knew ours before
    become_follower(quorum, hint.epoch, hint.leader_id, hint.endpoints, now_ms)
    return True
