"""Asking for votes, and how long to pause after a defeat."""

from typing import Final

from snakka.quorum.quorum import Quorum
from snakka.quorum.requests import find_voter_node, vote_request
from snakka.quorum.role import Candidate, Prospective

_BACKOFF_MS: Final = 100
_DOUBLINGS_MAX: Final = 20


def request_votes(quorum: Quorum, role: Prospective | Candidate, now_ms: int) -> None:
    """Asks the voters that have not answered yet; those of when it stood, itself excepted."""
    pre_vote = isinstance(role, Prospective)
    for voter in role.voters.voters:
        node = find_voter_node(quorum, voter)
        if voter.is_replica(quorum.local.key) or voter.key in role.granting | role.rejecting:
            continue
        if node is not None and quorum.peers.is_ready(node, now_ms):
            quorum.send(node, vote_request(quorum, voter.key, pre_vote=pre_vote), now_ms)


def election_backoff_ms(quorum: Quorum, retries: int) -> int:
    """Binary exponential, by chance: those who tied must not stand at the same time again."""
    slots = 2 << min(_DOUBLINGS_MAX, retries - 1)
    backoff_ms = _BACKOFF_MS * quorum.rng.randrange(slots)
    return min(backoff_ms, quorum.config.election_backoff_max_ms)
