"""CreateTopics: topics with their configuration and their partitions, or the reasons why not.

Each topic succeeds or fails for itself; those that succeed are written together. KIP-464 defaults,
KIP-525 the configuration in the answer, KIP-599 mutation quota.

Not here: who may create topics and see their configuration (apis/), where replicas go
(placement.py), create.topic.policy.class.name, which names Java code.
"""

from collections import Counter
from random import Random

from snakka.controller.assignments import check_manual, manual_partition, placed_partition
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.limits import PARTITIONS_MAX, Charge, check_record_count, no_quota
from snakka.controller.placement import ReplicaPlacer
from snakka.controller.topic_names import check_name
from snakka.controller.view import View
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.metadata.partition import Partition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import ConfigRecord, TopicRecord
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.protocol.types import ZERO_UUID, Uuid, random_uuid

_METADATA_TOPIC = "__cluster_metadata"
_DEFAULT = -1


def create_topics(
    view: View, request: CreateTopicsRequest, random: Random, charge: Charge = no_quota
) -> Decision[CreateTopicsResponse]:
    records: list[MetadataRecord] = []
    names = Counter(topic.name for topic in request.topics)
    try:
        _check_partition_count(view, request)
        results = [
            _result(view, topic, names[topic.name] > 1, random, charge, records)
            for topic in _each_once(request.topics)
        ]
        check_record_count(records)
    except RefusedError as refused:
        records = []
        results = [_failed(topic.name, refused) for topic in _each_once(request.topics)]
    response = CreateTopicsResponse(throttle_time_ms=0, topics=results)
    return Decision(response, [] if request.validate_only else records)


def _each_once(topics: list[CreatableTopic]) -> list[CreatableTopic]:
    return list({topic.name: topic for topic in topics}.values())


def _check_partition_count(view: View, request: CreateTopicsRequest) -> None:
    count = 0
    for topic in request.topics:
        if topic.assignments:
            count += len(topic.assignments)
        elif topic.num_partitions == _DEFAULT:
            count += view.settings.default_partitions
        else:
            count += max(topic.num_partitions, 0)
    if count > PARTITIONS_MAX:
        raise RefusedError(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def _result(
    view: View,
    topic: CreatableTopic,
    is_repeated: bool,
    random: Random,
    charge: Charge,
    records: list[MetadataRecord],
) -> CreatableTopicResult:
    try:
        _check_name(view, topic.name, is_repeated)
        configs = _configs(view, topic)
        partitions = _assigned(view, topic) if topic.assignments else _placed(view, topic, random)
        charge(len(partitions))
    except RefusedError as refused:
        return _failed(topic.name, refused)
    topic_id = random_uuid(random)
    records.append(TopicRecord(name=topic.name, topic_id=topic_id))
    records += [_config_record(topic.name, name, value) for name, value in configs.items()]
    records += [each.record(topic_id, index) for index, each in enumerate(partitions)]
    return _created(view, topic.name, topic_id, configs, partitions)


def _check_name(view: View, name: str, is_repeated: bool) -> None:
    if is_repeated:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    if name == _METADATA_TOPIC:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited."
        )
    check_name(name)
    if name in view.image.topics.ids:
        raise RefusedError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    view.names.check(name)


def _configs(view: View, topic: CreatableTopic) -> dict[str, str]:
    unset = [config.name for config in topic.configs if config.value is None]
    if unset:
        raise RefusedError(
            ErrorCode.INVALID_CONFIG,
            f"Null value not supported for topic configs: {','.join(unset)}",
        )
    configs = {config.name: config.value for config in topic.configs if config.value is not None}
    try:
        view.rules.validate(ConfigResource.topic(topic.name), configs, {})
    except ValueError as invalid:
        raise RefusedError(ErrorCode.INVALID_CONFIG, str(invalid)) from None
    return configs


def _assigned(view: View, topic: CreatableTopic) -> list[Partition]:
    if topic.replication_factor != _DEFAULT:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to"
            " -1.",
        )
    if topic.num_partitions != _DEFAULT:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    partitions: dict[int, Partition] = {}
    replication_factor = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in partitions:
            raise RefusedError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {index}",
            )
        check_manual(view, assignment.broker_ids, replication_factor)
        replication_factor = len(assignment.broker_ids)
        partitions[index] = manual_partition(view, index, assignment.broker_ids)
    if set(partitions) != set(range(len(partitions))):
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [partitions[index] for index in range(len(partitions))]


def _placed(view: View, topic: CreatableTopic, random: Random) -> list[Partition]:
    if topic.replication_factor < _DEFAULT or topic.replication_factor == 0:
        raise RefusedError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions < _DEFAULT or topic.num_partitions == 0:
        raise RefusedError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    count, factor = topic.num_partitions, topic.replication_factor
    count = view.settings.default_partitions if count == _DEFAULT else count
    factor = view.settings.default_replication_factor if factor == _DEFAULT else factor
    placer = ReplicaPlacer(view.image.brokers.values(), random)
    try:
        placed = [placer.place(factor) for _ in range(count)]
    except RefusedError as refused:
        raise RefusedError(
            refused.code,
            f"Unable to replicate the partition {factor} time(s): {refused.message}",
        ) from None
    return [placed_partition(view, replicas) for replicas in placed]


def _config_record(topic: str, name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=ConfigType.TOPIC, resource_name=topic, name=name, value=value)


def _created(
    view: View,
    name: str,
    topic_id: Uuid,
    configs: dict[str, str],
    partitions: list[Partition],
) -> CreatableTopicResult:
    inherited = [
        view.image.configs_of(ConfigResource.broker(view.settings.node_id)),
        view.image.configs_of(ConfigResource.broker()),
    ]
    return CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=ErrorCode.NONE,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=view.rules.describe_topic(configs, inherited),
    )


def _failed(name: str, refused: RefusedError) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name,
        topic_id=ZERO_UUID,
        error_code=refused.code,
        error_message=refused.message,
        configs=[],
    )
