"""The quorum's own records: leaders, kraft.version and voters, to batches and back.

What a control record announces is in its key; its value begins with the version that it is in.

Not here: their fields (protocol/internal/kraft.py), which set holds where (voter_history.py).
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from snakka.protocol.codec import decode, encode
from snakka.protocol.errors import MalformedError
from snakka.protocol.internal.kraft import (
    Endpoint as RecordEndpoint,
)
from snakka.protocol.internal.kraft import (
    KRaftVersionFeature,
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeMessageVoter,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
    VotersVoter,
)
from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.control import ControlType, read_control_key, write_control_key
from snakka.protocol.records.record import Record
from snakka.protocol.schema import Message
from snakka.protocol.types import Buffer
from snakka.quorum.voters import Endpoint, ReplicaKey, VersionRange, Voter, VoterSet

_VERSION = struct.Struct(">h")
_TYPES: Final[dict[type[Message], ControlType]] = {
    LeaderChangeMessage: ControlType.LEADER_CHANGE,
    SnapshotHeaderRecord: ControlType.SNAPSHOT_HEADER,
    SnapshotFooterRecord: ControlType.SNAPSHOT_FOOTER,
    KRaftVersionRecord: ControlType.KRAFT_VERSION,
    VotersRecord: ControlType.KRAFT_VOTERS,
}
_MESSAGES: Final = {control_type: message for message, control_type in _TYPES.items()}


class ControlRecord(NamedTuple):
    offset: int
    message: Message


def control_batch(
    messages: Sequence[Message], *, base_offset: int, epoch: int, timestamp_ms: int
) -> bytes:
    """One control batch; each message is in the version that its first field says."""
    records = [
        Record(
            base_offset + index,
            timestamp_ms,
            write_control_key(_TYPES[type(message)]),
            bytes(encode(message, message.version)),  # type: ignore[attr-defined]
        )
        for index, message in enumerate(messages)
    ]
    return build_batch(records, leader_epoch=epoch, is_control=True)


def read_control_records(data: Buffer) -> Iterator[ControlRecord]:
    """The records of the control batches among the batches of `data`. Unknown types are left."""
    for batch in batches(data):
        if not batch.header.is_control:
            continue
        for record in batch.records():
            message = _MESSAGES.get(read_control_key(record.key))
            if message is not None:
                yield ControlRecord(record.offset, _read(message, record.value))


def _read(message: type[Message], value: bytes | None) -> Message:
    if value is None or len(value) < _VERSION.size:
        raise MalformedError(message.__name__, 0, "truncated")
    return decode(message, _VERSION.unpack_from(value)[0], value)


def leader_change(
    leader_id: int, voters: VoterSet, granting: Iterable[ReplicaKey]
) -> LeaderChangeMessage:
    """What a leader writes first: who it is, and who let it be.

    In version 0 without directory ids, whatever kraft.version is: Kafka 4.3 reads no other.
    """
    return LeaderChangeMessage(
        version=0,
        leader_id=leader_id,
        voters=[LeaderChangeMessageVoter(voter_id=voter.key.id) for voter in voters.voters],
        granting_voters=[LeaderChangeMessageVoter(voter_id=key.id) for key in sorted(granting)],
    )


def kraft_version_record(kraft_version: int) -> KRaftVersionRecord:
    return KRaftVersionRecord(version=0, kraft_version=kraft_version)


def voters_record(voters: VoterSet) -> VotersRecord:
    return VotersRecord(version=0, voters=[_to_record(voter) for voter in voters.voters])


def _to_record(voter: Voter) -> VotersVoter:
    return VotersVoter(
        voter_id=voter.key.id,
        voter_directory_id=voter.key.directory_id,
        endpoints=[
            RecordEndpoint(name=each.name, host=each.host, port=each.port)
            for each in voter.endpoints
        ],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=voter.kraft_versions.first,
            max_supported_version=voter.kraft_versions.last,
        ),
    )


def read_voters_record(record: VotersRecord) -> VoterSet:
    return VoterSet.of(_from_record(voter) for voter in record.voters)


def _from_record(voter: VotersVoter) -> Voter:
    feature = voter.kraft_version_feature
    return Voter(
        ReplicaKey(voter.voter_id, voter.voter_directory_id),
        tuple(Endpoint(each.name, each.host, each.port) for each in voter.endpoints),
        VersionRange(feature.min_supported_version, feature.max_supported_version),
    )


def first_batch(data: Buffer) -> Buffer:
    """The first of the batches of `data`, the last of which may be cut short."""
    return next((batch.data for batch in batches(data, ignore_partial_tail=True)), b"")


def end_of(data: Buffer) -> int:
    """The offset after the batches of `data`."""
    return max(batch.header.next_offset for batch in batches(data))
