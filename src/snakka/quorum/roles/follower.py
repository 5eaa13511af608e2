"""Follower: fetches from the leader, and stands for election when it hears nothing more.

It fetches only what follows a synced log, because a fetch offset promises that all before it is
durable. From time to time it fetches not but tells the leader its endpoints, if they changed, or if
the voters are not in the log.
"""

from snakka.protocol.schema import Request
from snakka.quorum.peers import Node
from snakka.quorum.quorum import Quorum
from snakka.quorum.requests import (
    fetch_request,
    fetch_snapshot_request,
    find_node,
    update_voter_request,
)
from snakka.quorum.role import Follower
from snakka.quorum.roles.observer import find_join_request
from snakka.quorum.transitions import (
    become_prospective,
    become_unattached,
    update_voter_period_ms,
)


def poll(quorum: Quorum, role: Follower, now_ms: int) -> int | None:
    if role.fetch_deadline_ms <= now_ms and not quorum.is_shutting_down:
        if quorum.may_stand:
            become_prospective(quorum, now_ms)
        else:
            become_unattached(quorum, quorum.epoch, now_ms)
        return now_ms
    leader = _find_leader(quorum, role)
    if leader is not None and quorum.is_synced and quorum.peers.is_ready(leader, now_ms):
        quorum.send(leader, _next_request(quorum, role, now_ms), now_ms)
    return None if quorum.is_shutting_down else role.fetch_deadline_ms


def _find_leader(quorum: Quorum, role: Follower) -> Node | None:
    leader_id = quorum.leader_id
    return None if leader_id is None else find_node(quorum, leader_id, role.leader_endpoints)


def _next_request(quorum: Quorum, role: Follower, now_ms: int) -> Request:
    if role.update_voter_at_ms <= now_ms:
        role.update_voter_at_ms = now_ms + update_voter_period_ms(quorum)
        request = _find_update(quorum, role) or find_join_request(quorum)
        if request is not None:
            return request
    if role.download is not None:
        return fetch_snapshot_request(quorum, role.download)
    return fetch_request(quorum)


def _find_update(quorum: Quorum, role: Follower) -> Request | None:
    """What tells the leader of this voter: what the record has wrong, or what none has."""
    if not quorum.is_voter:
        return None
    is_right = role.has_told
    if quorum.history.is_dynamic:
        is_right = quorum.voters.find(quorum.local.key.id) == quorum.local.voter
    return None if is_right else update_voter_request(quorum)
