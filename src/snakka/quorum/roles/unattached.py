"""Unattached: waits for an election to end or to begin, and asks around who leads.

Not here: voting (voting.py), following whom an answer names (hints.py).
"""

from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Unattached
from snakka.quorum.roles.observer import look_for_leader
from snakka.quorum.transitions import become_prospective


def poll(quorum: Quorum, role: Unattached, now_ms: int) -> int | None:
    if quorum.is_shutting_down:
        return None
    if not quorum.may_stand:
        look_for_leader(quorum, now_ms)
        return None
    if role.election_deadline_ms <= now_ms:
        become_prospective(quorum, now_ms)
        return now_ms
    look_for_leader(quorum, now_ms)
    return role.election_deadline_ms
