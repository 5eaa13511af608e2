"""AlterPartition (KIP-497): a leader proposes its ISR.

Only the leader of this epoch, from the state it was told last, and only with replicas that are
alive and are the process that it means (KIP-903): one that restarted may have lost what the leader
saw it fetch.

Not here: which replicas are in sync (replication/).
"""

from snakka.controller.broker_heartbeat import get_broker
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.leadership import change_of, configured_election
from snakka.controller.view import View
from snakka.metadata.image import Topic
from snakka.metadata.partition import NO_LEADER_CHANGE, LeaderRecoveryState, Partition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    ResponsePartitionData,
    ResponseTopicData,
)

_ANY_EPOCH = -1


def alter_partition(view: View, request: AlterPartitionRequest) -> Decision[AlterPartitionResponse]:
    records: list[MetadataRecord] = []
    try:
        get_broker(view, request.broker_id, request.broker_epoch)
    except RefusedError as refused:
        return Decision(
            AlterPartitionResponse(throttle_time_ms=0, error_code=refused.code, topics=[])
        )
    topics = []
    for asked in request.topics:
        topic = view.image.topics.by_id.get(asked.topic_id)
        partitions = [_alter(view, request.broker_id, topic, each, records)
                      for each in asked.partitions]  # fmt: skip
        topics.append(ResponseTopicData(topic_id=asked.topic_id, partitions=partitions))
    response = AlterPartitionResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, topics=topics)
    return Decision(response, records, is_atomic=False)


def _alter(
    view: View,
    broker_id: int,
    topic: Topic | None,
    asked: RequestPartitionData,
    records: list[MetadataRecord],
) -> ResponsePartitionData:
    # Version 2 has ids alone, which stand for any process with that id.
    isr = asked.new_isr_with_epochs or [BrokerState(broker_id=each) for each in asked.new_isr]
    try:
        if topic is None:
            raise RefusedError(ErrorCode.UNKNOWN_TOPIC_ID)
        partition = topic.partitions.get(asked.partition_index)
        if partition is None:
            raise RefusedError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        _check_epochs(broker_id, partition, asked)
        _check_isr(partition, [each.broker_id for each in isr], asked.leader_recovery_state)
        if not all(_is_eligible(view, each) for each in isr):
            raise RefusedError(ErrorCode.INELIGIBLE_REPLICA)
    except RefusedError as refused:
        return _refused(asked.partition_index, refused.code)
    change = change_of(view, topic, asked.partition_index, configured_election(view, topic))
    change.isr = [each.broker_id for each in isr]
    change.leader_recovery_state = asked.leader_recovery_state
    record = change.record()
    if record is not None:
        records.append(record)
        partition = partition.after(record)
        if record.leader not in (broker_id, NO_LEADER_CHANGE):
            # The ISR has wound up a reassignment that took the leader away from the sender.
            return _refused(asked.partition_index, ErrorCode.NEW_LEADER_ELECTED)
    return _altered(asked.partition_index, partition)


def _check_epochs(broker_id: int, partition: Partition, asked: RequestPartitionData) -> None:
    # Who knows of a newer epoch has heard it from a newer controller than this one.
    if (
        asked.leader_epoch > partition.leader_epoch
        or asked.partition_epoch > partition.partition_epoch
    ):
        raise RefusedError(ErrorCode.NOT_CONTROLLER)
    if asked.leader_epoch < partition.leader_epoch:
        raise RefusedError(ErrorCode.FENCED_LEADER_EPOCH)
    if broker_id != partition.leader:
        raise RefusedError(ErrorCode.INVALID_REQUEST)
    if asked.partition_epoch < partition.partition_epoch:
        raise RefusedError(ErrorCode.INVALID_UPDATE_VERSION)


def _check_isr(partition: Partition, isr: list[int], recovery: int) -> None:
    is_subset = set(isr) <= set(partition.replicas) and len(set(isr)) == len(isr)
    if not is_subset or partition.leader not in isr:
        raise RefusedError(ErrorCode.INVALID_REQUEST)
    if recovery == LeaderRecoveryState.RECOVERING and (
        len(isr) > 1 or partition.leader_recovery_state == LeaderRecoveryState.RECOVERED
    ):
        raise RefusedError(ErrorCode.INVALID_REQUEST)


def _is_eligible(view: View, state: BrokerState) -> bool:
    broker = view.image.brokers.get(state.broker_id)
    if broker is None or not broker.is_active:
        return False
    return state.broker_epoch in (_ANY_EPOCH, broker.epoch)


def _refused(partition_id: int, code: ErrorCode) -> ResponsePartitionData:
    return ResponsePartitionData(
        partition_index=partition_id,
        error_code=code,
        leader_id=0,
        leader_epoch=0,
        isr=[],
        partition_epoch=0,
    )


def _altered(partition_id: int, partition: Partition) -> ResponsePartitionData:
    return ResponsePartitionData(
        partition_index=partition_id,
        error_code=ErrorCode.NONE,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )
