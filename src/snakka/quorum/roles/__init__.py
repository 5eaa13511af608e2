"""What each role does of itself as time passes: one module per role, each with `poll`.

`poll` does what is due, sends what may be sent, and says when it wants to be asked again. It can
be called at any time: what is under way is not sent twice.
"""

from typing import assert_never

from snakka.quorum.quorum import Quorum
from snakka.quorum.role import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from snakka.quorum.roles import candidate, follower, leader, prospective, resigned, unattached


def poll(quorum: Quorum, now_ms: int) -> int | None:
    match quorum.role:
        case Unattached() as role:
            return unattached.poll(quorum, role, now_ms)
        case Prospective() as role:
            return prospective.poll(quorum, role, now_ms)
        case Candidate() as role:
            return candidate.poll(quorum, role, now_ms)
        case Leader() as role:
            return leader.poll(quorum, role, now_ms)
        case Follower() as role:
            return follower.poll(quorum, role, now_ms)
        case Resigned() as role:
            return resigned.poll(quorum, role, now_ms)
        case _ as never:
            assert_never(never)
