"""ElectLeaders, and the elections that nobody asks for.

On request: the preferred leader, or any live replica at the price of records (KIP-460). By itself:
preferred leaders as they come back (auto.leader.rebalance.enable), and unclean ones for topics
that allow it (unclean.leader.election.enable), some at a time.

Not here: elections that follow from brokers coming and going (leadership.py), when the periodic
ones are due (the driver).
"""

from enum import IntEnum
from typing import Final

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.leadership import change_of
from snakka.controller.partition_change import Election
from snakka.controller.view import View
from snakka.metadata.image import Topic
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import PartitionChangeRecord
from snakka.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

ELECTIONS_MAX: Final = 1_000
"""Of one periodic decision; more wait for the next."""


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


def elect_leaders(view: View, request: ElectLeadersRequest) -> Decision[ElectLeadersResponse]:
    if request.election_type not in list(ElectionType):
        return Decision(
            ElectLeadersResponse(
                throttle_time_ms=0,
                error_code=ErrorCode.INVALID_REQUEST,
                replica_election_results=[],
            )
        )
    kind = ElectionType(request.election_type)
    records: list[MetadataRecord] = []
    asked = request.topic_partitions
    if asked is None:
        wanted = [(each.name, sorted(each.partitions)) for each in view.image.topics.by_id.values()]
    else:
        wanted = [(each.topic, each.partitions) for each in asked]
    results = []
    for name, partition_ids in wanted:
        elected = [_elect(view, name, each, kind, records) for each in partition_ids]
        if asked is None:
            # Of all partitions, those are told of that were not as wanted.
            elected = [each for each in elected if each.error_code != ErrorCode.ELECTION_NOT_NEEDED]
        results.append(ReplicaElectionResult(topic=name, partition_result=elected))
    response = ElectLeadersResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, replica_election_results=results
    )
    return Decision(response, records, is_atomic=False)


def balance_leaders(view: View) -> Decision[bool]:
    """Preferred leaders lead again where they can. True when there may be more to do."""
    records: list[MetadataRecord] = []
    for key in tuple(view.partitions.imbalanced):
        if len(records) == ELECTIONS_MAX:
            return Decision(True, records, is_atomic=False)
        topic, partition = view.partition(key)
        record = change_of(view, topic, key.partition_id, Election.PREFERRED).record()
        if record is not None and record.leader == partition.replicas[0]:
            records.append(record)
    return Decision(False, records, is_atomic=False)


def elect_uncleanly(view: View) -> Decision[bool]:
    """Partitions without a leader get one where their topic allows it. True when more may wait."""
    records: list[MetadataRecord] = []
    for key in tuple(view.partitions.leaderless):
        if len(records) == ELECTIONS_MAX:
            return Decision(True, records, is_atomic=False)
        topic, _ = view.partition(key)
        if view.elects_uncleanly(topic.name):
            record = change_of(view, topic, key.partition_id, Election.UNCLEAN).record()
            if record is not None:
                records.append(record)
    return Decision(False, records, is_atomic=False)


def _elect(
    view: View, name: str, partition_id: int, kind: ElectionType, records: list[MetadataRecord]
) -> PartitionResult:
    try:
        records.append(_election(view, name, partition_id, kind))
    except RefusedError as refused:
        return PartitionResult(
            partition_id=partition_id, error_code=refused.code, error_message=refused.message
        )
    return PartitionResult(partition_id=partition_id, error_code=ErrorCode.NONE, error_message=None)


def _election(
    view: View, name: str, partition_id: int, kind: ElectionType
) -> PartitionChangeRecord:
    topic = _topic(view, name, partition_id)
    partition = topic.partitions[partition_id]
    is_preferred = kind is ElectionType.PREFERRED
    if partition.has_preferred_leader if is_preferred else partition.has_leader:
        raise _refusal(ErrorCode.ELECTION_NOT_NEEDED)
    election = Election.PREFERRED if is_preferred else Election.UNCLEAN
    record = change_of(view, topic, partition_id, election).record()
    if record is None:
        raise _refusal(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
            if is_preferred
            else ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        )
    return record


def _topic(view: View, name: str, partition_id: int) -> Topic:
    topic = view.image.topics.find(name)
    if topic is None:
        raise RefusedError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    if partition_id not in topic.partitions:
        raise RefusedError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{partition_id}"
        )
    return topic


def _refusal(code: ErrorCode) -> RefusedError:
    return RefusedError(code, code.message)
