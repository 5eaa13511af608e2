"""CreatePartitions: topics grow; they never shrink.

KIP-599 mutation quota. Not here: who may alter what (apis/).
"""

from collections import Counter
from random import Random

from snakka.controller.assignments import (
    check_manual,
    manual_partition,
    placed_partition,
)
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.limits import Charge, check_record_count, no_quota
from snakka.controller.placement import ReplicaPlacer
from snakka.controller.view import View
from snakka.metadata.image import Topic
from snakka.metadata.partition import Partition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def create_partitions(
    view: View, request: CreatePartitionsRequest, random: Random, charge: Charge = no_quota
) -> Decision[CreatePartitionsResponse]:
    records: list[MetadataRecord] = []
    names = Counter(topic.name for topic in request.topics)
    results = []
    for topic in {each.name: each for each in request.topics}.values():
        try:
            if names[topic.name] > 1:
                raise RefusedError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            grown = _grow(view, topic, random, charge)
            check_record_count([*records, *grown])
        except RefusedError as refused:
            results.append(_result(topic.name, refused.code, refused.message))
        else:
            records += grown
            results.append(_result(topic.name, ErrorCode.NONE, None))
    response = CreatePartitionsResponse(throttle_time_ms=0, results=results)
    return Decision(response, [] if request.validate_only else records)


def _grow(
    view: View, request: CreatePartitionsTopic, random: Random, charge: Charge
) -> list[MetadataRecord]:
    topic = view.image.topics.find(request.name)
    if topic is None:
        raise RefusedError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    first = len(topic.partitions)
    _check_count(topic, request)
    charge(request.count - first)
    if request.assignments is None:
        partitions = _placed(view, topic, request.count - first, random)
    else:
        partitions = _assigned(view, topic, [each.broker_ids for each in request.assignments])
    return [each.record(topic.topic_id, first + index) for index, each in enumerate(partitions)]


def _check_count(topic: Topic, request: CreatePartitionsTopic) -> None:
    count = len(topic.partitions)
    if request.count == count:
        raise RefusedError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {count} partition(s).")
    if request.count < count:
        raise RefusedError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {count} partition(s); {request.count} would not"
            " be an increase.",
        )
    additional = request.count - count
    if request.assignments is not None and len(request.assignments) != additional:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only"
            f" {len(request.assignments)} assignment(s) were specified.",
        )


def _placed(view: View, topic: Topic, count: int, random: Random) -> list[Partition]:
    placer = ReplicaPlacer(view.image.brokers.values(), random)
    factor = len(topic.partitions[0].replicas)
    return [placed_partition(view, placer.place(factor)) for _ in range(count)]


def _assigned(view: View, topic: Topic, assignments: list[list[int]]) -> list[Partition]:
    factor = len(topic.partitions[0].replicas)
    partitions = []
    for partition_id, replicas in enumerate(assignments, len(topic.partitions)):
        check_manual(view, replicas, factor)
        partitions.append(manual_partition(view, partition_id, replicas))
    return partitions


def _result(name: str, code: ErrorCode, message: str | None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=code, error_message=message)
