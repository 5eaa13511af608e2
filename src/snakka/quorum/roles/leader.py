"""Leader: commits what a majority has, answers who waits, shows itself to voters that are away.

It resigns when a majority of the voters does not fetch from it (else it would go on as a leader
of nobody), when it is removed, and when the node shuts down.
"""

from snakka.quorum.quorum import Quorum
from snakka.quorum.reconfiguration import advance_change, must_resign
from snakka.quorum.requests import begin_request, find_voter_node
from snakka.quorum.role import Leader
from snakka.quorum.serving import complete_parked, has_quorum
from snakka.quorum.transitions import become_resigned, check_quorum_timeout_ms
from snakka.quorum.voters import Voter


def poll(quorum: Quorum, role: Leader, now_ms: int) -> int:
    commit(quorum, role)
    advance_change(quorum, role, now_ms)
    complete_parked(quorum, role, now_ms)
    if must_resign(quorum) or quorum.is_shutting_down or _has_lost_quorum(quorum, role, now_ms):
        become_resigned(quorum, role, now_ms)
        return now_ms
    _show_itself(quorum, role, now_ms)
    role.replicas.forget_observers(now_ms - quorum.config.observer_timeout_ms)
    deadlines = [parked.deadline_ms for parked in role.parked.values()]
    if role.change is not None:
        deadlines.append(role.change.deadline_ms)
    return min(role.check_quorum_deadline_ms, role.begin_epoch_at_ms, *deadlines)


def commit(quorum: Quorum, role: Leader) -> None:
    """Moves the high watermark, once a record of this epoch is on a majority (Raft, 5.4.2)."""
    own = role.replicas.find_voter(quorum.local.key)
    if own is not None:
        own.end_offset = quorum.synced_offset
    offset = role.replicas.replicated_offset()
    if offset > role.epoch_start_offset:
        quorum.advance_high_watermark(offset)


def _has_lost_quorum(quorum: Quorum, role: Leader, now_ms: int) -> bool:
    if role.check_quorum_deadline_ms > now_ms:
        return False
    role.fetched.clear()
    role.check_quorum_deadline_ms = now_ms + check_quorum_timeout_ms(quorum)
    return not has_quorum(quorum, role)  # which a leader is alone, as the only voter


def _show_itself(quorum: Quorum, role: Leader, now_ms: int) -> None:
    """BeginQuorumEpoch, again and again, to the voters that do not fetch."""
    if role.begin_epoch_at_ms > now_ms:
        return
    period_ms = quorum.config.fetch_timeout_ms // 2
    role.begin_epoch_at_ms = now_ms + period_ms
    for voter in quorum.voters.voters:
        node = find_voter_node(quorum, voter)
        if voter.key.id == quorum.local.key.id or node is None:
            continue
        is_away = _last_fetch_ms(role, voter) <= now_ms - period_ms
        if is_away and quorum.peers.is_ready(node, now_ms):
            quorum.send(node, begin_request(quorum, voter.key), now_ms)


def _last_fetch_ms(role: Leader, voter: Voter) -> int:
    progress = role.replicas.find_voter(voter.key)
    return -(1 << 62) if progress is None or progress.last_fetch_ms < 0 else progress.last_fetch_ms
