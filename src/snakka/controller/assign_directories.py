"""AssignReplicasToDirs (KIP-858): a broker says in which log directories its replicas are."""

from snakka.controller.broker_heartbeat import get_broker
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.leadership import change_of, without_broker
from snakka.controller.partition_index import PartitionKey
from snakka.controller.view import View
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import PartitionChangeRecord
from snakka.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from snakka.protocol.types import Uuid


def assign_replicas_to_dirs(
    view: View, request: AssignReplicasToDirsRequest
) -> Decision[AssignReplicasToDirsResponse]:
    records: list[MetadataRecord] = []
    try:
        if not view.image.metadata_version.has_directories:
            raise RefusedError(
                ErrorCode.UNSUPPORTED_VERSION, "Directory assignment is not supported yet."
            )
        broker = get_broker(view, request.broker_id, request.broker_epoch)
    except RefusedError as refused:
        return Decision(
            AssignReplicasToDirsResponse(
                throttle_time_ms=0, error_code=refused.code, directories=[]
            )
        )
    lost: dict[PartitionKey, None] = {}
    directories = []
    for asked in request.directories:
        directories.append(_assign(view, request.broker_id, asked, records))
        if not broker.has_online_dir(asked.id):
            lost |= dict.fromkeys(_keys(directories[-1]))
    records += without_broker(view, broker.broker_id, lost)
    response = AssignReplicasToDirsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, directories=directories
    )
    return Decision(response, records, is_atomic=False)


def _assign(
    view: View, broker_id: int, asked: RequestDirectoryData, records: list[MetadataRecord]
) -> ResponseDirectoryData:
    topics = []
    for topic in asked.topics:
        partitions = []
        for partition in topic.partitions:
            key = PartitionKey(topic.topic_id, partition.partition_index)
            code = ErrorCode.NONE
            try:
                record = _change(view, key, broker_id, asked.id)
                records += [] if record is None else [record]
            except RefusedError as refused:
                code = refused.code
            partitions.append(
                ResponsePartitionData(partition_index=key.partition_id, error_code=code)
            )
        topics.append(ResponseTopicData(topic_id=topic.topic_id, partitions=partitions))
    return ResponseDirectoryData(id=asked.id, topics=topics)


def _change(
    view: View, key: PartitionKey, broker_id: int, directory: Uuid
) -> PartitionChangeRecord | None:
    topic = view.image.topics.by_id.get(key.topic_id)
    if topic is None:
        raise RefusedError(ErrorCode.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(key.partition_id)
    if partition is None:
        raise RefusedError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if broker_id not in partition.replicas:
        raise RefusedError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    change = change_of(view, topic, key.partition_id)
    change.directories = {broker_id: directory}
    return change.record()


def _keys(assigned: ResponseDirectoryData) -> list[PartitionKey]:
    """The partitions that were assigned."""
    return [
        PartitionKey(topic.topic_id, partition.partition_index)
        for topic in assigned.topics
        for partition in topic.partitions
        if partition.error_code == ErrorCode.NONE
    ]
