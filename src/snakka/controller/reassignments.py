"""AlterPartitionReassignments and ListPartitionReassignments (KIP-455).

A reassignment adds the new replicas beside the old ones, waits until all that are to stay are in
sync, then drops the others (partition_change.py winds it up). Cancelling drops the new ones.
KIP-860: the sender may insist that the number of replicas stays.
"""

from collections.abc import Iterator

from snakka.controller.assignments import check_manual
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.leadership import change_of, configured_election
from snakka.controller.limits import check_record_count
from snakka.controller.partition_change import PartitionChange
from snakka.controller.view import View
from snakka.metadata.image import Topic
from snakka.metadata.partition import Partition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def alter_reassignments(
    view: View, request: AlterPartitionReassignmentsRequest
) -> Decision[AlterPartitionReassignmentsResponse]:
    records: list[MetadataRecord] = []
    may_resize = request.allow_replication_factor_change
    responses = [
        ReassignableTopicResponse(
            name=topic.name,
            partitions=[
                _alter(view, topic.name, each, may_resize, records) for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    response = AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        allow_replication_factor_change=may_resize,
        error_code=ErrorCode.NONE,
        error_message=None,
        responses=responses,
    )
    return Decision(response, records)


def list_reassignments(
    view: View, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    wanted: dict[str, list[int]] = {}
    if request.topics is None:
        for key in view.partitions.reassigning:
            topic, _ = view.partition(key)
            wanted.setdefault(topic.name, []).append(key.partition_id)
    else:
        wanted = {each.name: each.partition_indexes for each in request.topics}
    topics = []
    for name, partition_ids in wanted.items():
        ongoing = list(_ongoing(view, name, partition_ids))
        if ongoing:
            topics.append(OngoingTopicReassignment(name=name, partitions=ongoing))
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None, topics=topics
    )


def _alter(
    view: View,
    name: str,
    asked: ReassignablePartition,
    may_resize: bool,
    records: list[MetadataRecord],
) -> ReassignablePartitionResponse:
    code, message = ErrorCode.NONE, None
    try:
        topic, partition = _find(view, name, asked.partition_index)
        if asked.replicas is None:
            change = _cancelled(view, topic, asked.partition_index, partition)
        else:
            change = _reassigned(view, topic, asked.partition_index, asked.replicas, may_resize)
        record = change.record()
        if record is not None:
            check_record_count([*records, record])
            records.append(record)
    except RefusedError as refused:
        code, message = refused.code, refused.message
    return ReassignablePartitionResponse(
        partition_index=asked.partition_index, error_code=code, error_message=message
    )


def _find(view: View, name: str, partition_id: int) -> tuple[Topic, Partition]:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = view.image.topics.find(name)
    if topic is None:
        raise RefusedError(unknown, f"Unable to find a topic named {name}.")
    partition = topic.partitions.get(partition_id)
    if partition is None:
        raise RefusedError(unknown, f"Unable to find partition {name}:{partition_id}.")
    return topic, partition


def _cancelled(
    view: View, topic: Topic, partition_id: int, partition: Partition
) -> PartitionChange:
    if not partition.is_reassigning:
        raise RefusedError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    adding = partition.adding_replicas
    replicas = tuple(each for each in partition.replicas if each not in adding)
    isr = tuple(each for each in partition.isr if each not in adding)
    if not replicas:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Invalid replica assignment: addingReplicas contains all replicas.",
        )
    if not isr and not view.elects_uncleanly(topic.name):
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unable to revert partition assignment for {topic.name}:{partition_id} because it"
            " would require an unclean leader election.",
        )
    change = change_of(view, topic, partition_id, configured_election(view, topic))
    change.isr, change.replicas = isr or replicas[:1], replicas
    change.adding, change.removing = (), ()
    return change


def _reassigned(
    view: View, topic: Topic, partition_id: int, target: list[int], may_resize: bool
) -> PartitionChange:
    check_manual(view, target, None)
    partition = topic.partitions[partition_id]
    _check_size(partition, target, may_resize)
    change = change_of(view, topic, partition_id)
    # What a reassignment before this one was adding is still being added: cancelling this one
    # leads back to where the partition was before both.
    original = set(partition.replicas) - set(partition.adding_replicas)
    change.removing = sorted(set(partition.replicas) - set(target))
    change.adding = sorted({*target, *partition.replicas} - original)
    change.replicas = [*target, *change.removing]
    return change


def _check_size(partition: Partition, target: list[int], may_resize: bool) -> None:
    """What counts is where the partition is going, if it is on its way already."""
    size = len(partition.replicas) - len(partition.removing_replicas)
    if not may_resize and len(target) != size:
        raise RefusedError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {size} to {len(target)}",
        )


def _ongoing(
    view: View, name: str, partition_ids: list[int]
) -> Iterator[OngoingPartitionReassignment]:
    topic = view.image.topics.find(name)
    if topic is None:
        return
    for partition_id in partition_ids:
        partition = topic.partitions.get(partition_id)
        if partition is not None and partition.is_reassigning:
            yield OngoingPartitionReassignment(
                partition_index=partition_id,
                replicas=list(partition.replicas),
                adding_replicas=list(partition.adding_replicas),
                removing_replicas=list(partition.removing_replicas),
            )
