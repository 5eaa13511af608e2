"""BeginQuorumEpoch and EndQuorumEpoch."""

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.begin_quorum_epoch import BeginQuorumEpochResponse
from snakka.protocol.messages.end_quorum_epoch import EndQuorumEpochResponse
from snakka.protocol.schema import Request
from snakka.quorum.election_state import ElectionState
from snakka.quorum.epochs import succession_backoff_ms
from snakka.quorum.role import Follower, Prospective, Resigned, Unattached
from snakka.quorum.voters import ReplicaKey, Voter, VoterSet
from tests.quorum.asking import begin_request, end_request, fetch_answer
from tests.quorum.replicas import Lone, build, voter_set
from tests.simulation.quorum_cluster import endpoint, replica_key

STATIC = VoterSet.of(Voter(ReplicaKey(each), (endpoint(each),)) for each in (1, 2, 3))


def error(lone: Lone, request: Request) -> ErrorCode:
    response = lone.ask(request)
    assert isinstance(response, BeginQuorumEpochResponse | EndQuorumEpochResponse)
    codes = {each.value: each for each in ErrorCode}
    return codes[response.topics[0].partitions[0].error_code]


def test_a_leader_that_shows_itself_is_followed() -> None:
    lone = build(1, voter_set(1, 2, 3))
    assert error(lone, begin_request(replica_key(2), 4)) is ErrorCode.NONE
    assert lone.role() is Follower
    assert lone.disk.election == ElectionState(4, 2)


def test_a_second_leader_of_an_epoch_is_not_believed() -> None:
    lone = build(1, voter_set(1, 2, 3))
    error(lone, begin_request(replica_key(2), 4))
    assert error(lone, begin_request(replica_key(3), 4)) is ErrorCode.INVALID_REQUEST
    assert lone.quorum.leader_id == 2


def test_an_earlier_epoch_is_fenced() -> None:
    lone = build(1, voter_set(1, 2, 3), election=ElectionState(5))
    assert error(lone, begin_request(replica_key(2), 4)) is ErrorCode.FENCED_LEADER_EPOCH


def test_where_voters_are_configured_no_other_may_lead() -> None:  # pitfall 37
    lone = build(1, static_voters=STATIC)
    request = begin_request(replica_key(4), 4, to=replica_key(1))
    assert error(lone, request) is ErrorCode.INCONSISTENT_VOTER_SET
    assert lone.role() is Unattached


def test_a_leader_that_is_not_known_yet_has_to_know_us() -> None:  # pitfall 37
    lone = build(1, voter_set(1, 2))
    anybody = begin_request(replica_key(3), 4)
    assert error(lone, anybody) is ErrorCode.INCONSISTENT_VOTER_SET
    assert error(lone, end_request(replica_key(3), 4)) is ErrorCode.INCONSISTENT_VOTER_SET
    assert lone.quorum.epoch == 0
    assert error(lone, begin_request(replica_key(3), 4, to=replica_key(1))) is ErrorCode.NONE


def test_the_first_successor_stands_at_once() -> None:
    lone = build(1, voter_set(1, 2, 3))
    error(lone, begin_request(replica_key(2), 4))
    lone.answer(fetch_answer(replica_key(2), 4))
    error(lone, end_request(replica_key(2), 4, replica_key(1), replica_key(3)))
    assert lone.role() is Prospective


def test_a_later_successor_waits_and_does_not_refuse_the_first() -> None:
    lone = build(1, voter_set(1, 2, 3))
    error(lone, begin_request(replica_key(2), 4))
    lone.answer(fetch_answer(replica_key(2), 4))
    error(lone, end_request(replica_key(2), 4, replica_key(3), replica_key(1)))
    role = lone.quorum.role
    assert isinstance(role, Follower)
    assert not role.has_fetched
    assert role.fetch_deadline_ms == 500


@pytest.mark.parametrize(
    ("position", "backoff_ms"), [(0, 0), (1, 125), (2, 250), (3, 500), (4, 1_000)]
)
def test_successors_wait_twice_as_long_as_the_one_before(position: int, backoff_ms: int) -> None:
    assert succession_backoff_ms(position, 4, 1_000) == backoff_ms


def test_a_leader_that_restarts_has_resigned_and_begins_another_epoch() -> None:
    lone = build(1, voter_set(1, 2, 3), election=ElectionState(4, 1, replica_key(1)))
    assert lone.role() is Resigned
    lone.wait(5_000)
    assert lone.role() is Unattached
    assert lone.quorum.election == ElectionState(5)
