"""AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter, and who tells the leader to use them."""

from dataclasses import replace

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from snakka.protocol.messages.api_versions import ApiVersionsResponse, SupportedFeatureKey
from snakka.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from snakka.protocol.messages.update_raft_voter import UpdateRaftVoterResponse
from snakka.protocol.schema import Response
from snakka.quorum.config import QuorumConfig
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.requests import update_voter_request
from snakka.quorum.role import Follower, Leader, Resigned
from snakka.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from tests.quorum.asking import begin_request, fetch_answer, fetch_request
from tests.quorum.replicas import Lone, build, voter_set
from tests.simulation.quorum_cluster import endpoint, replica_key
from tests.simulation.quorum_faults import add_request, remove_request


def error(response: Response | None) -> int:
    assert isinstance(
        response, AddRaftVoterResponse | RemoveRaftVoterResponse | UpdateRaftVoterResponse
    )
    return response.error_code


def versions(first: int, last: int) -> ApiVersionsResponse:
    feature = SupportedFeatureKey(name="kraft.version", min_version=first, max_version=last)
    return ApiVersionsResponse(error_code=0, api_keys=[], supported_features=[feature])


def add(node_id: int) -> AddRaftVoterRequest:
    return add_request(build(node_id).quorum.local)


def ask_to_join_now(lone: Lone) -> None:
    assert isinstance(lone.quorum.role, Follower)
    lone.quorum.role.update_voter_at_ms = 0


def fetch_all(lone: Lone, node_id: int) -> None:
    end = lone.quorum.log.end
    lone.ask(fetch_request(replica_key(node_id), 1, end, max_wait_ms=10))


def test_a_new_voter_is_asked_then_awaited_then_added() -> None:
    lone = build(1, voter_set(1))
    assert lone.ask(add(2)) is None
    lone.answer(versions(0, 1))
    assert lone.replica.voters == voter_set(1)
    fetch_all(lone, 2)
    assert lone.replica.voters == voter_set(1, 2)
    fetch_all(lone, 2)
    assert error(lone.replies[0]) == ErrorCode.NONE


def test_one_that_does_not_catch_up_is_not_added() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    lone.answer(versions(0, 1))
    lone.ask(fetch_request(replica_key(2), 1, OffsetAndEpoch(0, 0)))
    lone.wait(lone.now_ms + 1_000)
    assert error(lone.replies[-1]) == ErrorCode.REQUEST_TIMED_OUT
    assert lone.replica.voters == voter_set(1)


def test_one_that_does_not_support_the_version_is_not_added() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    lone.answer(versions(0, 0))
    assert error(lone.replies[-1]) == ErrorCode.INVALID_REQUEST


def test_one_that_cannot_be_reached_is_not_added() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    unreached = lone.sent[-1].correlation_id
    lone.replica.fail(unreached, ErrorCode.BROKER_NOT_AVAILABLE, lone.now_ms)
    lone.settle()
    assert error(lone.replies[-1]) == ErrorCode.REQUEST_TIMED_OUT


def test_changes_come_one_at_a_time() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    assert error(lone.ask(add(3))) == ErrorCode.REQUEST_TIMED_OUT
    assert error(lone.ask(remove_request(replica_key(1)))) == ErrorCode.REQUEST_TIMED_OUT


def test_a_change_waits_until_the_last_is_committed() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    fetch_all(lone, 2)
    lone.answer(versions(0, 1))
    assert lone.replica.voters == voter_set(1, 2)
    lone.wait(lone.now_ms + 250)  # the answer is overdue, the record is not committed
    assert error(lone.replies[-1]) == ErrorCode.REQUEST_TIMED_OUT
    assert error(lone.ask(remove_request(replica_key(2)))) == ErrorCode.REQUEST_TIMED_OUT
    fetch_all(lone, 2)
    assert lone.ask(remove_request(replica_key(2))) is not None
    assert lone.replica.voters == voter_set(1)


def test_voters_and_directories_are_told_apart() -> None:
    lone = build(1, voter_set(1))
    assert error(lone.ask(add(1))) == ErrorCode.DUPLICATE_VOTER
    assert error(lone.ask(remove_request(replica_key(2)))) == ErrorCode.VOTER_NOT_FOUND
    other = ReplicaKey(1, replica_key(2).directory_id)
    assert error(lone.ask(remove_request(other))) == ErrorCode.VOTER_NOT_FOUND
    assert error(lone.ask(remove_request(ReplicaKey(1)))) == ErrorCode.INVALID_REQUEST


def test_the_last_voter_cannot_be_removed() -> None:
    lone = build(1, voter_set(1))
    assert error(lone.ask(remove_request(replica_key(1)))) == ErrorCode.VOTER_NOT_FOUND


def test_configured_voters_do_not_change() -> None:
    static = VoterSet.of([Voter(ReplicaKey(1), (endpoint(1),))])
    lone = build(1, static_voters=static)
    assert lone.role() is Leader
    assert error(lone.ask(add(2))) == ErrorCode.UNSUPPORTED_VERSION


def test_only_the_leader_changes_voters() -> None:
    lone = build(1, voter_set(1, 2))
    assert error(lone.ask(add(3))) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_removed_leader_commits_that_without_itself_and_resigns() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    fetch_all(lone, 2)
    lone.answer(versions(0, 1))
    fetch_all(lone, 2)
    lone.ask(remove_request(replica_key(1)))
    assert lone.role() is Leader
    assert not lone.quorum.is_committed(lone.quorum.log.end.offset - 1)
    fetch_all(lone, 2)
    assert lone.role() is Resigned
    (reply,) = (each for each in lone.replies if isinstance(each, RemoveRaftVoterResponse))
    assert reply.error_code == ErrorCode.NONE


def test_a_voter_tells_its_new_endpoints_and_the_leader_writes_them() -> None:
    lone = build(1, voter_set(1))
    lone.ask(add(2))
    fetch_all(lone, 2)
    lone.answer(versions(0, 1))
    fetch_all(lone, 2)
    moved = build(2).quorum
    moved.election = moved.election._replace(epoch=1)
    moved.local = replace(moved.local, endpoints=(Endpoint("CONTROLLER", "new", 1),))
    lone.ask(update_voter_request(moved))
    (reply,) = (each for each in lone.replies if isinstance(each, UpdateRaftVoterResponse))
    assert reply.error_code == ErrorCode.NONE
    found = lone.replica.voters.find_endpoint(2, "CONTROLLER")
    assert found is not None
    assert found.host == "new"


def test_a_controller_that_may_joins_by_itself() -> None:
    config = QuorumConfig(auto_join_enable=True)
    source = build(2, voter_set(2))
    data = source.quorum.log.read(0, 1 << 20)
    lone = build(1, config=config)
    lone.ask(begin_request(replica_key(2), 1))
    lone.answer(fetch_answer(replica_key(2), 1, data, 3))
    assert lone.replica.voters == voter_set(2)
    ask_to_join_now(lone)
    lone.answer(fetch_answer(replica_key(2), 1, b"", 3))
    assert isinstance(lone.sent[-1].message, AddRaftVoterRequest)


def test_a_controller_that_lost_its_disk_has_its_former_self_removed() -> None:
    config = QuorumConfig(auto_join_enable=True)
    former = Voter(ReplicaKey(1, replica_key(9).directory_id), (endpoint(1),))
    voters = voter_set(2).with_voter(former)
    assert voters is not None
    lone = build(1, voters, config=config)
    lone.ask(begin_request(replica_key(2), 1))
    ask_to_join_now(lone)
    lone.answer(fetch_answer(replica_key(2), 1, b"", 0))
    request = lone.sent[-1].message
    assert isinstance(request, RemoveRaftVoterRequest)
    assert request.voter_directory_id == former.key.directory_id
