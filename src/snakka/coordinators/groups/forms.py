"""What old versions of requests and responses look like, and responses that refuse."""

from collections.abc import Callable, Sequence
from typing import Final

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_describe import (
    DescribedGroup as DescribedConsumerGroup,
)
from snakka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from snakka.protocol.messages.describe_groups import DescribedGroup
from snakka.protocol.messages.join_group import JoinGroupResponse
from snakka.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_JOIN_NULL_PROTOCOL: Final = 7
_LEAVE_MANY: Final = 3
_FETCH_ERROR: Final = 2
_FETCH_MANY: Final = 8
_NO_OFFSET: Final = -1

# Clients before 3.9 know none of Kafka's usual answers here, but look for the coordinator again.
_FETCH_ERRORS: Final = {ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_COORDINATOR}
_MARKER_ERRORS: Final = frozenset(
    (
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    )
)


def fit_join_response(response: JoinGroupResponse, api_version: int) -> JoinGroupResponse:
    """Old versions have no null for a protocol that there is none of."""
    if response.protocol_name is not None or api_version >= _JOIN_NULL_PROTOCOL:
        return response
    return JoinGroupResponse(
        error_code=response.error_code,
        generation_id=response.generation_id,
        protocol_name="",
        leader=response.leader,
        member_id=response.member_id,
        members=response.members,
    )


def widen_leave_request(request: LeaveGroupRequest, api_version: int) -> LeaveGroupRequest:
    """As one that may name many members."""
    if api_version >= _LEAVE_MANY:
        return request
    member = MemberIdentity(member_id=request.member_id)
    return LeaveGroupRequest(group_id=request.group_id, members=[member])


def fit_leave_response(response: LeaveGroupResponse, api_version: int) -> LeaveGroupResponse:
    """Old versions tell of the one member by the request's error."""
    if api_version >= _LEAVE_MANY:
        return response
    return LeaveGroupResponse(error_code=response.members[0].error_code, members=[])


def widen_fetch_request(
    request: OffsetFetchRequest, api_version: int
) -> Sequence[OffsetFetchRequestGroup]:
    """As one that may name many groups."""
    if api_version >= _FETCH_MANY:
        return request.groups
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=each.name, partition_indexes=each.partition_indexes)
            for each in request.topics
        ]
    return [OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)]


def fit_fetch_response(
    request: OffsetFetchRequest, groups: list[OffsetFetchResponseGroup], api_version: int
) -> OffsetFetchResponse:
    """Old versions tell of the one group at the top, the oldest of an error by partition only."""
    if api_version >= _FETCH_MANY:
        return OffsetFetchResponse(topics=[], groups=groups)
    (group,) = groups
    if group.error_code and api_version < _FETCH_ERROR:
        return OffsetFetchResponse(topics=_refused_topics(request, group.error_code), groups=[])
    topics = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=each.partition_index,
                    committed_offset=each.committed_offset,
                    committed_leader_epoch=each.committed_leader_epoch,
                    metadata=each.metadata,
                    error_code=each.error_code,
                )
                for each in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code, groups=[])


def _refused_topics(request: OffsetFetchRequest, code: int) -> list[OffsetFetchResponseTopic]:
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index, committed_offset=_NO_OFFSET, metadata="", error_code=code
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in request.topics or ()
    ]


def fetch_refusal(
    group: OffsetFetchRequestGroup,
) -> Callable[[ErrorCode], OffsetFetchResponseGroup]:
    return lambda code: OffsetFetchResponseGroup(
        group_id=group.group_id, topics=[], error_code=_FETCH_ERRORS.get(code, code)
    )


def describe_refusal(group_id: str) -> Callable[[ErrorCode], DescribedGroup]:
    return lambda code: DescribedGroup(
        error_code=code,
        group_id=group_id,
        group_state="",
        protocol_type="",
        protocol_data="",
        members=[],
    )


def consumer_describe_refusal(group_id: str) -> Callable[[ErrorCode], DescribedConsumerGroup]:
    return lambda code: DescribedConsumerGroup(
        error_code=code,
        error_message=code.message,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def refuse_consumer_heartbeat(code: ErrorCode) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
        throttle_time_ms=0,
        error_code=code,
        error_message=code.message,
        member_epoch=0,
        heartbeat_interval_ms=0,
    )


def refuse_commit(request: OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse:
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return OffsetCommitResponse(topics=topics)


def refuse_transactional_commit(
    request: TxnOffsetCommitRequest, code: ErrorCode
) -> TxnOffsetCommitResponse:
    topics = [
        TxnOffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                TxnOffsetCommitResponsePartition(
                    partition_index=each.partition_index, error_code=code
                )
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return TxnOffsetCommitResponse(throttle_time_ms=0, topics=topics)


def marker_error(code: ErrorCode) -> ErrorCode:
    """What the transaction coordinator, which writes markers to all partitions alike, knows."""
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if code in _MARKER_ERRORS else code
