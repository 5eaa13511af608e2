"""The life of a replica: starting, leading, submitting, resigning, shutting down."""

import pytest

from snakka.protocol.codec import encode
from snakka.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)
from snakka.protocol.schema import Request, Response
from snakka.quorum.config import QuorumConfig
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.ready import Inbound
from snakka.quorum.replica import NotLeaderError, RecordsTooLargeError
from snakka.quorum.replies import TOPIC
from snakka.quorum.role import Leader, Resigned
from tests.quorum.asking import (
    begin_request,
    end_request,
    fetch_request,
    vote_answer,
    vote_request,
)
from tests.quorum.replicas import Lone, build, voter_set
from tests.simulation.quorum_cluster import replica_key


def elected() -> Lone:
    """The leader of epoch 1 among three voters."""
    lone = build(1, voter_set(1, 2, 3))
    lone.wait(2_000)
    lone.answer(vote_answer(0, granted=True))
    lone.answer(vote_answer(1, granted=True))
    assert lone.role() is Leader
    return lone


def test_a_voter_that_is_alone_leads_at_once() -> None:
    lone = build(1, voter_set(1))
    assert lone.replica.is_leader
    assert lone.replica.high_watermark == 3


def test_a_leader_begins_with_records_of_its_epoch() -> None:
    assert elected().quorum.log.end == OffsetAndEpoch(3, 1)


def test_nothing_is_committed_before_a_record_of_the_leaders_epoch_is() -> None:
    lone = elected()
    leader = lone.quorum.role
    assert isinstance(leader, Leader)
    leader.epoch_start_offset = 3  # as if the log had held three records of an earlier epoch
    lone.ask(fetch_request(replica_key(2), 1, OffsetAndEpoch(3, 1)))
    assert lone.replica.high_watermark is None
    lone.replica.submit([b"a"], lone.now_ms)
    lone.settle()
    lone.ask(fetch_request(replica_key(2), 1, OffsetAndEpoch(4, 1)))
    assert lone.replica.high_watermark == 4


def test_the_leader_counts_itself_only_once_it_has_synced() -> None:
    lone = elected()
    lone.replica.submit([b"a"], lone.now_ms)
    flush = lone.replica.take_ready().flush
    assert flush is not None
    request = fetch_request(replica_key(2), 1, OffsetAndEpoch(4, 1))
    lone.replica.receive(Inbound("token", 18, request), lone.now_ms)
    assert lone.replica.high_watermark == 3
    lone.replica.flushed(flush, lone.now_ms)
    assert lone.replica.high_watermark == 4


def test_only_the_leader_appends() -> None:
    with pytest.raises(NotLeaderError):
        build(1, voter_set(1, 2)).replica.submit([b"a"], 0)


def test_a_batch_has_a_limit() -> None:
    lone = build(1, voter_set(1), config=QuorumConfig(batch_max_bytes=200))
    with pytest.raises(RecordsTooLargeError):
        lone.replica.submit([bytes(200)], 0)
    assert lone.quorum.log.end.offset == 3


def test_a_leader_that_nobody_fetches_from_resigns() -> None:
    lone = elected()
    lone.wait(lone.now_ms + 2_999)
    assert lone.role() is Leader
    lone.wait(lone.now_ms + 1)
    assert lone.role() is Resigned


def test_a_leader_that_a_majority_fetches_from_stays() -> None:
    lone = elected()
    for _ in range(10):
        lone.wait(lone.now_ms + 1_500)
        lone.ask(fetch_request(replica_key(2), 1, lone.quorum.log.end))
    assert lone.role() is Leader


def test_an_observer_does_not_keep_a_leader_in_office() -> None:
    lone = elected()
    for _ in range(3):
        lone.wait(lone.now_ms + 1_500)
        lone.ask(fetch_request(replica_key(9), 1, lone.quorum.log.end))
    assert lone.role() is not Leader


def test_those_who_wait_hear_that_their_leader_has_gone() -> None:
    lone = elected()
    lone.ask(fetch_request(replica_key(2), 1, lone.quorum.log.end, max_wait_ms=10))
    end = lone.quorum.log.end
    lone.ask(fetch_request(replica_key(2), 1, end, max_wait_ms=500))
    lone.ask(begin_request(replica_key(3), 2))
    assert len(lone.replies) == 2


def test_a_leader_hands_over_before_it_shuts_down() -> None:
    lone = elected()
    lone.replica.shut_down(lone.now_ms)
    assert lone.role() is Resigned
    assert not lone.replica.has_shut_down
    lone.ask(begin_request(replica_key(2), 2))
    assert lone.replica.has_shut_down


def test_one_that_shuts_down_does_not_stand() -> None:
    lone = build(1, voter_set(1, 2, 3))
    lone.replica.shut_down(0)
    lone.wait(60_000)
    assert lone.quorum.election == ElectionState(0)


def test_an_epoch_that_only_the_log_knows_counts() -> None:
    lone = build(1, voter_set(1))
    again = build(1, disk=lone.disk, election=ElectionState(0))
    assert again.quorum.epoch > lone.quorum.epoch


def describe_request() -> DescribeQuorumRequest:
    partitions = [RequestPartitionData(partition_index=0)]
    return DescribeQuorumRequest(topics=[RequestTopicData(topic_name=TOPIC, partitions=partitions)])


def test_a_leader_describes_the_quorum() -> None:
    lone = elected()
    lone.ask(fetch_request(replica_key(2), 1, OffsetAndEpoch(3, 1)))
    lone.ask(fetch_request(replica_key(9), 1, OffsetAndEpoch(0, 0)))
    response = lone.ask(describe_request())
    assert isinstance(response, DescribeQuorumResponse)
    found = response.topics[0].partitions[0]
    assert (found.leader_id, found.leader_epoch, found.high_watermark) == (1, 1, 3)
    assert [(s.replica_id, s.log_end_offset) for s in found.current_voters] == [
        (1, 3),
        (2, 3),
        (3, -1),
    ]
    assert [state.replica_id for state in found.observers] == [9]
    assert [node.node_id for node in response.nodes] == [1, 2, 3]


REQUESTS: list[Request] = [
    vote_request(replica_key(2), 1, OffsetAndEpoch(9, 0)),
    begin_request(replica_key(2), 0),
    end_request(replica_key(2), 1),
    fetch_request(replica_key(2), 1, OffsetAndEpoch(3, 1)),
    describe_request(),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
def test_an_answer_fits_every_version_of_its_request(request_: Request) -> None:
    first, last = type(request_).VERSIONS
    for version in range(first, last + 1):
        response: Response | None = elected().ask(request_, version)
        assert response is not None
        encode(response, version)
