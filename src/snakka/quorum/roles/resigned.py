"""Resigned: a leader that leads no more tells the voters, until they know or another leads.

It never leads again in the epoch it has resigned from: what it promised there is over.
"""

from snakka.quorum.quorum import Quorum
from snakka.quorum.requests import end_request, find_voter_node
from snakka.quorum.role import Resigned
from snakka.quorum.transitions import become_unattached


def poll(quorum: Quorum, role: Resigned, now_ms: int) -> int | None:
    if role.election_deadline_ms <= now_ms and not quorum.is_shutting_down:
        become_unattached(quorum, quorum.epoch + 1, now_ms)
        return now_ms
    for voter in quorum.voters.voters:
        node = find_voter_node(quorum, voter)
        if voter.key not in role.unacknowledged or node is None:
            continue
        if quorum.peers.is_ready(node, now_ms):
            quorum.send(node, end_request(quorum, role.preferred_successors), now_ms)
    return None if quorum.is_shutting_down else role.election_deadline_ms
