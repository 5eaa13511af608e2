"""Observer: a replica that follows without a vote, be it a broker or a controller that is new.

It has no role of its own: it is Unattached while it looks for the leader, then a Follower. With
`auto.join.enable` a controller asks the leader to make it a voter, after the removal of the voter
of its id whose disk it has lost, and stops once it sees itself in the set (KIP-853, KIP-1186).
"""

from snakka.protocol.schema import Request
from snakka.quorum.peers import Node
from snakka.quorum.quorum import Quorum
from snakka.quorum.requests import (
    add_voter_request,
    fetch_request,
    find_voter_node,
    remove_voter_request,
)


def look_for_leader(quorum: Quorum, now_ms: int) -> None:
    """Fetches from anybody: one who does not lead tells who does. One request at a time."""
    if quorum.peers.is_waiting or not quorum.is_synced:
        return
    ready = [node for node in _known_nodes(quorum) if quorum.peers.is_ready(node, now_ms)]
    if ready:
        quorum.send(quorum.rng.choice(ready), fetch_request(quorum), now_ms)


def _known_nodes(quorum: Quorum) -> list[Node]:
    own = quorum.local.key
    nodes = [find_voter_node(quorum, v) for v in quorum.voters.voters if v.key.id != own.id]
    return [*(node for node in nodes if node is not None), *quorum.local.bootstrap_servers]


def find_join_request(quorum: Quorum) -> Request | None:
    """What to ask the leader so that this replica becomes a voter."""
    local = quorum.local
    wants_to_join = quorum.config.auto_join_enable and local.is_controller
    if not wants_to_join or not quorum.history.is_dynamic or quorum.is_voter:
        return None
    former = quorum.voters.find(local.key.id)
    if former is not None:
        return remove_voter_request(quorum, former.key.id, former.key.directory_id)
    return add_voter_request(quorum)
