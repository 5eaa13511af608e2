"""DescribeQuorum: who votes, who watches, and how far all are (KIP-595, KIP-836, KIP-853)."""

from collections.abc import Iterable

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from snakka.protocol.types import ZERO_UUID
from snakka.quorum.progress import Progress
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.replies import PARTITION, TOPIC
from snakka.quorum.role import Leader


def handle_describe(
    quorum: Quorum, inbound: Inbound, request: DescribeQuorumRequest, now_ms: int
) -> None:
    topics = [
        ResponseTopicData(
            topic_name=topic.topic_name,
            partitions=[
                _describe(quorum, inbound, topic.topic_name, each.partition_index, now_ms)
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    has_nodes = inbound.version >= 2 and isinstance(quorum.role, Leader)
    nodes = _nodes(quorum) if has_nodes else []
    quorum.reply(
        inbound, DescribeQuorumResponse(error_code=ErrorCode.NONE, topics=topics, nodes=nodes)
    )


def _describe(
    quorum: Quorum, inbound: Inbound, topic: str, index: int, now_ms: int
) -> ResponsePartitionData:
    leader = quorum.role
    if (topic, index) != (TOPIC, PARTITION):
        return _failed(quorum, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not isinstance(leader, Leader):
        return _failed(quorum, index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return ResponsePartitionData(
        partition_index=index,
        error_code=ErrorCode.NONE,
        leader_id=quorum.local.key.id,
        leader_epoch=quorum.epoch,
        high_watermark=-1 if quorum.high_watermark is None else quorum.high_watermark,
        current_voters=_states(quorum, inbound, leader.replicas.voters.values(), now_ms),
        observers=_states(quorum, inbound, leader.replicas.observers.values(), now_ms),
    )


def _failed(quorum: Quorum, index: int, error: ErrorCode) -> ResponsePartitionData:
    return ResponsePartitionData(
        partition_index=index,
        error_code=error,
        error_message=error.message,
        leader_id=-1 if quorum.leader_id is None else quorum.leader_id,
        leader_epoch=quorum.epoch,
        high_watermark=-1,
        current_voters=[],
        observers=[],
    )


def _states(
    quorum: Quorum, inbound: Inbound, replicas: Iterable[Progress], now_ms: int
) -> list[ReplicaState]:
    states = []
    for each in replicas:
        is_own = each.key.id == quorum.local.key.id  # which fetches from nobody, and never lags
        last_fetch_ms = now_ms if is_own else each.last_fetch_ms
        last_caught_up_ms = now_ms if is_own else each.last_caught_up_ms
        end_offset = quorum.log.end.offset if is_own else each.end_offset
        directory_id = each.key.directory_id if inbound.version >= 2 else ZERO_UUID
        states.append(
            ReplicaState(
                replica_id=each.key.id,
                log_end_offset=end_offset,
                last_fetch_timestamp=last_fetch_ms,
                last_caught_up_timestamp=last_caught_up_ms,
                replica_directory_id=directory_id,
            )
        )
    return states


def _nodes(quorum: Quorum) -> list[Node]:
    return [
        Node(
            node_id=voter.key.id,
            listeners=[
                Listener(name=each.name, host=each.host, port=each.port) for each in voter.endpoints
            ],
        )
        for voter in quorum.voters.voters
    ]
