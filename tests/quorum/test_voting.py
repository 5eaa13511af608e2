"""Who gets a vote, and who does not."""

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.vote import ResponsePartitionData, VoteRequest, VoteResponse
from snakka.quorum.control_records import control_batch, voters_record
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.ready import Inbound
from snakka.quorum.role import Candidate, Prospective, Unattached
from snakka.quorum.voters import ReplicaKey, Voter, VoterSet
from tests.quorum.asking import begin_request, fetch_answer, vote_answer, vote_request
from tests.quorum.replicas import Lone, build, data_batch, voter_set
from tests.simulation.quorum_cluster import endpoint, replica_key

START = OffsetAndEpoch(0, 0)
AHEAD = OffsetAndEpoch(9, 1)
STATIC = VoterSet.of(Voter(ReplicaKey(each), (endpoint(each),)) for each in (1, 2, 3))


def answer(lone: Lone, request: VoteRequest) -> ResponsePartitionData:
    response = lone.ask(request)
    assert isinstance(response, VoteResponse)
    assert response.error_code == 0
    return response.topics[0].partitions[0]


def test_a_vote_is_given_once_an_epoch_and_outlives_a_restart() -> None:
    lone = build(1, voter_set(1, 2, 3))
    assert answer(lone, vote_request(replica_key(2), 1, START)).vote_granted
    assert lone.disk.election == ElectionState(1, None, replica_key(2))
    again = build(1, disk=lone.disk)
    assert not answer(again, vote_request(replica_key(3), 1, START)).vote_granted
    assert answer(again, vote_request(replica_key(2), 1, START)).vote_granted
    assert answer(again, vote_request(replica_key(3), 2, START)).vote_granted


def test_the_vote_is_on_disk_before_it_is_told() -> None:
    lone = build(1, voter_set(1, 2, 3))
    lone.replica.receive(Inbound("token", 2, vote_request(replica_key(2), 1, START)), lone.now_ms)
    ready = lone.replica.take_ready()
    assert ready.election == ElectionState(1, None, replica_key(2))
    assert len(ready.replies) == 1


def test_a_shorter_log_gets_no_vote() -> None:
    lone = build(1, voter_set(1, 2, 3))
    lone.ask(begin_request(replica_key(2), 1))
    lone.answer(fetch_answer(replica_key(2), 1, data_batch(0, 1, b"a", b"b")))
    assert not answer(lone, vote_request(replica_key(3), 5, OffsetAndEpoch(1, 1))).vote_granted
    assert answer(lone, vote_request(replica_key(3), 5, OffsetAndEpoch(1, 2))).vote_granted


def test_a_pre_vote_binds_nobody() -> None:
    lone = build(1, voter_set(1, 2, 3))
    assert answer(lone, vote_request(replica_key(2), 0, START, pre_vote=True)).vote_granted
    assert answer(lone, vote_request(replica_key(3), 0, START, pre_vote=True)).vote_granted
    assert lone.quorum.election == ElectionState(0)


def test_one_who_hears_from_a_leader_refuses_pre_votes() -> None:
    lone = build(1, voter_set(1, 2, 3))
    lone.ask(begin_request(replica_key(2), 1, to=replica_key(1)))
    assert answer(lone, vote_request(replica_key(3), 1, START, pre_vote=True)).vote_granted
    lone.answer(fetch_answer(replica_key(2), 1))
    assert not answer(lone, vote_request(replica_key(3), 1, START, pre_vote=True)).vote_granted


def test_an_earlier_epoch_is_fenced() -> None:
    lone = build(1, voter_set(1, 2, 3), election=ElectionState(5))
    found = answer(lone, vote_request(replica_key(2), 4, START))
    assert found.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert found.leader_epoch == 5


@pytest.mark.parametrize(
    ("epoch", "end"),
    [
        (1, OffsetAndEpoch(-1, 0)),
        (1, OffsetAndEpoch(0, -1)),
        (1, OffsetAndEpoch(5, 1)),
        (1, OffsetAndEpoch(5, 2)),
    ],
)
def test_an_impossible_log_is_refused(epoch: int, end: OffsetAndEpoch) -> None:
    lone = build(1, voter_set(1, 2, 3))
    found = answer(lone, vote_request(replica_key(2), epoch, end))
    assert found.error_code == ErrorCode.INVALID_REQUEST
    assert lone.quorum.epoch == 0


def test_a_vote_for_another_directory_is_refused() -> None:
    lone = build(1, voter_set(1, 2, 3))
    former = ReplicaKey(1, replica_key(9).directory_id)
    found = answer(lone, vote_request(replica_key(2), 1, START, to=former))
    assert found.error_code == ErrorCode.INVALID_VOTER_KEY


def test_a_request_of_another_cluster_is_refused() -> None:
    lone = build(1, voter_set(1, 2, 3))
    response = lone.ask(vote_request(replica_key(2), 1, START, cluster_id="other"))
    assert isinstance(response, VoteResponse)
    assert response.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID


def test_where_voters_are_configured_nobody_else_is_heard() -> None:  # pitfall 37
    lone = build(1, static_voters=STATIC)
    found = answer(lone, vote_request(replica_key(4), 7, AHEAD))
    assert found.error_code == ErrorCode.INCONSISTENT_VOTER_SET
    assert lone.quorum.epoch == 0
    assert answer(lone, vote_request(replica_key(2), 7, AHEAD)).vote_granted


def test_a_removed_voter_is_not_heard() -> None:  # pitfall 37
    lone = build(1, voter_set(1, 2))
    found = answer(lone, vote_request(replica_key(3), 7, START))
    assert found.error_code == ErrorCode.INCONSISTENT_VOTER_SET
    assert lone.quorum.epoch == 0


def test_a_voter_that_is_not_known_yet_is_heard_if_its_log_is_ahead() -> None:
    lone = build(1, voter_set(1, 2))
    assert answer(lone, vote_request(replica_key(3), 7, AHEAD)).vote_granted


def test_a_candidate_stands_again_only_after_a_pause_and_new_pre_votes() -> None:
    lone = build(1, voter_set(1, 2, 3))
    lone.wait(2_000)
    assert lone.role() is Prospective
    lone.answer(vote_answer(0, granted=True))
    assert lone.role() is Candidate
    for request in lone.sent[-2:]:
        lone.replica.respond(request.correlation_id, vote_answer(1, granted=False), 2_000)
    candidate = lone.quorum.role
    assert isinstance(candidate, Candidate)
    assert candidate.backoff_until_ms is not None
    lone.wait(4_000)
    assert lone.role() is Prospective
    assert lone.quorum.epoch == 1


def test_a_voter_too_old_for_pre_votes_is_asked_for_its_vote() -> None:
    lone = build(1, voter_set(1, 2, 3))
    lone.wait(2_000)
    failed = lone.sent[-1].correlation_id
    lone.replica.fail(failed, ErrorCode.UNSUPPORTED_VERSION, lone.now_ms)
    assert lone.role() is Candidate


def test_a_candidate_that_restarts_does_not_go_on() -> None:
    election = ElectionState(3, None, replica_key(1))
    lone = build(1, voter_set(1, 2, 3), election=election)
    assert lone.role() is Unattached
    assert lone.quorum.election == election


def test_replicas_without_voters_elect_nobody() -> None:  # pitfall 26
    lone = build(1)
    lone.wait(60_000)
    assert lone.role() is Unattached
    assert lone.quorum.epoch == 0


def test_a_removed_voter_stands_until_its_removal_is_committed() -> None:
    """Else the two voters of such a log would wait for each other for ever."""
    lone = build(1, voter_set(1, 2))
    lone.ask(begin_request(replica_key(2), 1))
    removal = control_batch([voters_record(voter_set(2))], base_offset=0, epoch=1, timestamp_ms=0)
    lone.answer(fetch_answer(replica_key(2), 1, removal, 0))
    assert not lone.quorum.is_voter
    assert lone.quorum.may_stand
    lone.answer(fetch_answer(replica_key(2), 1, b"", 1))
    assert not lone.quorum.may_stand
