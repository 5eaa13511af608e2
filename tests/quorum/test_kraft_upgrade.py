"""kraft.version from 0 to 1: configured voters tell who they are, and are written into the log."""

from dataclasses import replace

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.update_raft_voter import (
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from snakka.quorum.kraft_upgrade import KraftUpgradeError
from snakka.quorum.replica import NotLeaderError
from snakka.quorum.requests import update_voter_request
from snakka.quorum.role import Follower, Leader
from snakka.quorum.voters import STATIC_VERSIONS, ReplicaKey, VersionRange, Voter, VoterSet
from tests.quorum.asking import begin_request, fetch_answer, fetch_request, vote_answer
from tests.quorum.replicas import Lone, build, voter_set
from tests.simulation.quorum_cluster import endpoint, replica_key


def configured(*ids: int) -> VoterSet:
    return VoterSet.of(Voter(ReplicaKey(each), (endpoint(each),)) for each in ids)


def fetch(lone: Lone, node_id: int) -> None:
    end = lone.quorum.log.end
    lone.ask(fetch_request(replica_key(node_id), lone.quorum.epoch, end))


def leader(*others: int) -> Lone:
    """One of configured voters that has been elected, and has committed in its epoch."""
    lone = build(1, static_voters=configured(1, *others))
    if others:
        lone.wait(lone.now_ms + 3_000)
        for _ in range(2):  # it asks whether it may stand, then for votes
            lone.answer(vote_answer(lone.quorum.epoch, granted=True))
    assert lone.role() is Leader
    for each in others:
        fetch(lone, each)
    assert lone.quorum.is_committed(0)
    return lone


def tell(lone: Lone, node_id: int, versions: VersionRange | None = None) -> int:
    """A voter says who it is."""
    teller = build(node_id, static_voters=configured(1, node_id)).quorum
    teller.election = lone.quorum.election
    if versions is not None:
        teller.local = replace(teller.local, kraft_versions=versions)
    answer = lone.ask(update_voter_request(teller))
    assert isinstance(answer, UpdateRaftVoterResponse)
    return answer.error_code


def test_a_voter_that_is_alone_is_written_at_once() -> None:
    lone = leader()
    lone.replica.upgrade_kraft_version(1, lone.now_ms)
    lone.settle()
    assert lone.replica.kraft_version == 1
    assert lone.replica.voters == voter_set(1)
    assert lone.quorum.is_committed(lone.quorum.log.end.offset - 1)


def test_all_voters_have_to_have_told_first() -> None:
    lone = leader(2)
    with pytest.raises(KraftUpgradeError, match="not all of the voters support it"):
        lone.replica.upgrade_kraft_version(1, lone.now_ms)
    assert tell(lone, 2) == ErrorCode.NONE
    lone.replica.check_kraft_version(1)
    assert lone.replica.kraft_version == 0
    lone.replica.upgrade_kraft_version(1, lone.now_ms)
    lone.settle()
    assert lone.replica.voters == voter_set(1, 2)
    end = lone.quorum.log.end.offset
    assert not lone.quorum.is_committed(end - 1)
    fetch(lone, 2)  # known by its directory from now on
    assert lone.quorum.is_committed(end - 1)
    lone.wait(lone.now_ms + 2_000)
    assert lone.role() is Leader


def test_what_a_voter_does_not_support_is_refused() -> None:
    lone = leader(2)
    tell(lone, 2, STATIC_VERSIONS)
    with pytest.raises(KraftUpgradeError, match="not all of the voters support it"):
        lone.replica.check_kraft_version(1)


def test_only_a_leader_writes_voters_and_never_back() -> None:
    with pytest.raises(NotLeaderError):
        build(1, static_voters=configured(1, 2)).replica.upgrade_kraft_version(1, 0)
    lone = build(1, voter_set(1))
    end = lone.quorum.log.end
    lone.replica.upgrade_kraft_version(1, 0)
    assert lone.quorum.log.end == end
    with pytest.raises(KraftUpgradeError, match="the new version is a downgrade"):
        lone.replica.upgrade_kraft_version(0, 0)


def test_one_that_does_not_vote_has_nothing_to_tell() -> None:
    assert tell(leader(2), 3) == ErrorCode.VOTER_NOT_FOUND


def test_a_configured_voter_tells_each_leader_until_it_has_heard() -> None:
    lone = build(1, static_voters=configured(1, 2))
    lone.ask(begin_request(replica_key(2), 3))
    told = tell_now(lone)
    lone.answer(UpdateRaftVoterResponse(throttle_time_ms=0, error_code=ErrorCode.REQUEST_TIMED_OUT))
    lone.answer(fetch_answer(replica_key(2), 3))
    assert tell_now(lone) == told
    lone.answer(UpdateRaftVoterResponse(throttle_time_ms=0, error_code=ErrorCode.NONE))
    assert tell_now(lone) is None
    lone.ask(begin_request(replica_key(2), 4))
    assert tell_now(lone) is not None


def tell_now(lone: Lone) -> UpdateRaftVoterRequest | None:
    """What a follower says when it is time to."""
    assert isinstance(lone.quorum.role, Follower)
    lone.quorum.role.update_voter_at_ms = 0
    lone.quorum.peers.forget_all()
    lone.wait(lone.now_ms + 1)
    last = lone.sent[-1].message
    return last if isinstance(last, UpdateRaftVoterRequest) else None
