"""Prospective: asks for pre-votes, in its old epoch, so that one who cannot win disturbs nobody.

KIP-996. A majority makes it a candidate. Without one it goes back to the leader it had, who may
be alive after all, or waits for another.
"""

from snakka.quorum.election import request_votes
from snakka.quorum.majority import has_majority, is_majority_lost
from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Prospective
from snakka.quorum.transitions import become_candidate, become_follower, become_unattached


def poll(quorum: Quorum, role: Prospective, now_ms: int) -> int | None:
    if quorum.is_shutting_down:
        return None
    if has_majority(role.voters.keys, role.granting):
        become_candidate(quorum, role, now_ms)
        return now_ms
    if is_majority_lost(role.voters.keys, role.rejecting) or role.deadline_ms <= now_ms:
        _give_up(quorum, role, now_ms)
        return now_ms
    request_votes(quorum, role, now_ms)
    return role.deadline_ms


def _give_up(quorum: Quorum, role: Prospective, now_ms: int) -> None:
    leader_id = quorum.leader_id
    if leader_id is not None and leader_id != quorum.local.key.id and role.leader_endpoints:
        become_follower(quorum, quorum.epoch, leader_id, role.leader_endpoints, now_ms)
    else:
        become_unattached(quorum, quorum.epoch, now_ms)
