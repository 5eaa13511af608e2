from snakka.protocol.internal.kraft import KRaftVersionRecord, LeaderChangeMessage, VotersRecord
from snakka.protocol.records.batch import batches
from snakka.quorum.control_records import (
    control_batch,
    end_of,
    first_batch,
    kraft_version_record,
    leader_change,
    read_control_records,
    read_voters_record,
    voters_record,
)
from snakka.quorum.snapshot_format import snapshot_footer, snapshot_header
from snakka.quorum.voter_history import VoterHistory
from snakka.quorum.voters import NO_VOTERS
from tests.quorum.replicas import data_batch, voter_set
from tests.simulation.quorum_cluster import replica_key


def test_voters_survive_being_written() -> None:
    assert read_voters_record(voters_record(voter_set(1, 2))) == voter_set(1, 2)


def test_a_control_batch_reads_back_with_its_offsets() -> None:
    data = control_batch(
        [kraft_version_record(1), voters_record(voter_set(1))],
        base_offset=7,
        epoch=3,
        timestamp_ms=5,
    )
    (batch,) = batches(data)
    assert batch.header.is_control
    assert batch.header.leader_epoch == 3
    found = list(read_control_records(data_batch(5, 3, b"a", b"b") + data))
    assert [(record.offset, type(record.message)) for record in found] == [
        (7, KRaftVersionRecord),
        (8, VotersRecord),
    ]
    assert end_of(data) == 9


def test_a_leader_names_itself_in_the_version_that_kafka_reads() -> None:
    message = leader_change(1, voter_set(1, 2), [replica_key(2)])
    assert (message.version, message.leader_id) == (0, 1)
    assert [each.voter_id for each in message.voters] == [1, 2]
    assert [each.voter_id for each in message.granting_voters] == [2]
    data = control_batch([message], base_offset=0, epoch=1, timestamp_ms=0)
    ((_, found),) = read_control_records(data)
    assert isinstance(found, LeaderChangeMessage)
    assert found == message


def test_a_snapshot_begins_with_the_voters_at_its_end() -> None:
    history = VoterHistory(NO_VOTERS)
    history.add_kraft_version(1, 1)
    history.add_voters(2, voter_set(1))
    history.add_voters(9, voter_set(1, 2))
    header = snapshot_header(history, 9, last_contained_log_timestamp=1, now_ms=2)
    snapshot = header + data_batch(10, 0, b"a") + snapshot_footer(11, now_ms=2)
    found = [record.message for record in read_control_records(first_batch(snapshot[:-5]))]
    assert found[1:] == [kraft_version_record(1), voters_record(voter_set(1))]


def test_a_snapshot_of_configured_voters_names_none() -> None:
    header = snapshot_header(
        VoterHistory(voter_set(1)), 9, last_contained_log_timestamp=1, now_ms=2
    )
    assert len(list(read_control_records(header))) == 1
