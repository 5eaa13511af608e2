"""Fetch and FetchSnapshot, on both sides."""

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch import (
    EpochEndOffset,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import CommittedDataLossError
from snakka.quorum.role import Follower
from tests.quorum.asking import begin_request, fetch_answer, fetch_request
from tests.quorum.replicas import Lone, build, data_batch, voter_set
from tests.simulation.quorum_cluster import replica_key


def leader() -> Lone:
    """The only voter of its quorum, with three control records and two values."""
    lone = build(1, voter_set(1))
    lone.replica.submit([b"a"], 0)
    lone.replica.submit([b"b"], 0)
    lone.settle()
    return lone


def follower(election: ElectionState | None = None) -> Lone:
    lone = build(1, voter_set(1, 2, 3), election=election)
    lone.ask(begin_request(replica_key(2), 3))
    return lone


def fetch(lone: Lone, end: OffsetAndEpoch, epoch: int = 1) -> PartitionData:
    response = lone.ask(fetch_request(replica_key(9), epoch, end))
    assert isinstance(response, FetchResponse)
    return response.responses[0].partitions[0]


def test_a_fetch_gets_what_follows() -> None:
    found = fetch(leader(), OffsetAndEpoch(3, 1))
    assert found.records == data_batch(3, 1, b"a") + data_batch(4, 1, b"b")
    assert found.high_watermark == 5


def test_an_epoch_that_does_not_match_is_told_so() -> None:
    assert fetch(leader(), OffsetAndEpoch(3, 0), epoch=0).error_code == (
        ErrorCode.FENCED_LEADER_EPOCH
    )
    assert fetch(leader(), OffsetAndEpoch(3, 1), epoch=2).error_code == (
        ErrorCode.UNKNOWN_LEADER_EPOCH
    )


def test_a_longer_log_diverges_where_the_epoch_ends() -> None:
    found = fetch(leader(), OffsetAndEpoch(8, 1))
    assert found.diverging_epoch == EpochEndOffset(epoch=1, end_offset=5)


def test_snapshots_older_than_the_log_do_not_count() -> None:
    """They stay for a while, or come back with a crash."""
    lone = leader()
    bootstrap = dict(lone.disk.snapshots.complete_ones)
    lone.write_snapshot(OffsetAndEpoch(4, 1))
    lone.replica.advance_log_start(OffsetAndEpoch(4, 1))
    lone.disk.snapshots.complete_ones |= bootstrap
    found = fetch(lone, OffsetAndEpoch(4, 1))
    assert found.records == data_batch(4, 1, b"b")
    assert found.snapshot_id.end_offset == -1


def test_a_fetch_with_nothing_to_get_waits() -> None:
    lone = leader()
    request = fetch_request(replica_key(9), 1, OffsetAndEpoch(5, 1), max_wait_ms=100)
    assert lone.ask(request) is None
    lone.wait(100)
    assert len(lone.replies) == 1


def test_a_replica_has_one_fetch_waiting() -> None:
    lone = leader()
    request = fetch_request(replica_key(9), 1, OffsetAndEpoch(5, 1), max_wait_ms=100)
    assert lone.ask(request) is None
    assert lone.ask(request) is not None


def test_a_follower_fetches_again_only_once_it_has_synced() -> None:
    lone = follower()
    answer = fetch_answer(replica_key(2), 3, data_batch(0, 3, b"a"), 0)
    lone.replica.respond(lone.sent[-1].correlation_id, answer, 0)
    ready = lone.replica.take_ready()
    assert ready.flush is not None
    assert ready.requests == ()
    lone.replica.flushed(ready.flush, 0)
    lone.settle()
    request = lone.sent[-1].message
    assert isinstance(request, FetchRequest)
    assert request.topics[0].partitions[0].fetch_offset == 1


def test_a_batch_that_changed_on_the_way_is_fetched_again() -> None:  # pitfall 24
    lone = follower()
    bad = bytearray(data_batch(0, 3, b"a"))
    bad[-2] ^= 1
    lone.answer(fetch_answer(replica_key(2), 3, bytes(bad), 1))
    assert lone.quorum.log.end == OffsetAndEpoch(0, 0)
    lone.wait(100)
    lone.answer(fetch_answer(replica_key(2), 3, data_batch(0, 3, b"a"), 1))
    assert lone.quorum.log.end == OffsetAndEpoch(1, 3)


@pytest.mark.parametrize(("offset", "epoch"), [(1, 3), (0, 4)])
def test_batches_out_of_place_are_not_appended(offset: int, epoch: int) -> None:
    lone = follower()
    lone.answer(fetch_answer(replica_key(2), 3, data_batch(offset, epoch, b"a"), 0))
    assert lone.quorum.log.end == OffsetAndEpoch(0, 0)


def test_half_a_batch_at_the_end_is_left() -> None:
    lone = follower()
    data = data_batch(0, 3, b"a") + data_batch(1, 3, b"b")
    lone.answer(fetch_answer(replica_key(2), 3, data[:-1], 0))
    assert lone.quorum.log.end == OffsetAndEpoch(1, 3)


def test_an_answer_to_an_earlier_role_is_not_heard() -> None:
    lone = follower()
    late = lone.sent[-1].correlation_id
    lone.ask(begin_request(replica_key(3), 4))
    lone.replica.respond(late, fetch_answer(replica_key(2), 3, data_batch(0, 3, b"a"), 0), 0)
    assert lone.quorum.log.end == OffsetAndEpoch(0, 0)


def test_a_high_watermark_that_is_lower_does_not_count() -> None:
    lone = follower()
    lone.answer(fetch_answer(replica_key(2), 3, data_batch(0, 3, b"a"), 1))
    assert lone.replica.high_watermark == 1
    lone.answer(fetch_answer(replica_key(2), 3, b"", 0))
    lone.answer(fetch_answer(replica_key(2), 3, b"", -1))
    assert lone.replica.high_watermark == 1


def test_nobody_truncates_what_is_committed() -> None:
    lone = follower()
    lone.answer(fetch_answer(replica_key(2), 3, data_batch(0, 3, b"a"), 1))
    with pytest.raises(CommittedDataLossError, match="1 is committed"):
        lone.quorum.truncate(0)


def test_a_leader_does_not_truncate() -> None:  # pitfall 11
    lone = leader()
    with pytest.raises(CommittedDataLossError, match="its own log"):
        lone.quorum.truncate(5)


def test_one_that_has_lost_its_leader_keeps_its_epoch() -> None:
    lone = follower()
    assert lone.role() is Follower
    lone.wait(2_000)
    assert lone.quorum.election == ElectionState(3, 2)


def test_a_snapshot_is_of_what_is_committed_and_in_the_log() -> None:
    lone = leader()
    lone.replica.check_snapshot(OffsetAndEpoch(5, 1))
    with pytest.raises(CommittedDataLossError):
        lone.replica.check_snapshot(OffsetAndEpoch(6, 1))
    with pytest.raises(ValueError, match="not of this log"):
        lone.replica.check_snapshot(OffsetAndEpoch(5, 2))
