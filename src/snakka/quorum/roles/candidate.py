"""Candidate: asks for votes in an epoch of its own, and leads once a majority has given theirs.

After a defeat or in vain it pauses, longer each time, and asks for pre-votes again.
"""

from snakka.quorum.election import election_backoff_ms, request_votes
from snakka.quorum.majority import has_majority, is_majority_lost
from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Candidate
from snakka.quorum.transitions import become_leader, become_prospective


def poll(quorum: Quorum, role: Candidate, now_ms: int) -> int | None:
    if has_majority(role.voters.keys, role.granting):
        become_leader(quorum, role, now_ms)
        return now_ms
    if quorum.is_shutting_down:
        return None
    if role.backoff_until_ms is None and _has_lost(role, now_ms):
        role.backoff_until_ms = now_ms + election_backoff_ms(quorum, role.retries)
    if role.backoff_until_ms is None:
        request_votes(quorum, role, now_ms)
        return role.deadline_ms
    if role.backoff_until_ms <= now_ms:
        become_prospective(quorum, now_ms)
        return now_ms
    return role.backoff_until_ms


def _has_lost(role: Candidate, now_ms: int) -> bool:
    return is_majority_lost(role.voters.keys, role.rejecting) or role.deadline_ms <= now_ms
