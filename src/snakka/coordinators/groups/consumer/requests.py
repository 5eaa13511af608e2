"""What a heartbeat says: whether it may say so, what its member owns, and what it wants."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer.member import (
    LEAVE_EPOCH,
    LEAVE_FOR_A_WHILE_EPOCH,
    Member,
    Partition,
    Partitions,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

_OWN_MEMBER_ID_VERSION: Final = 1  # KIP-1082: members choose their ids


def check_request(
    request: ConsumerGroupHeartbeatRequest, assignors: Collection[str], api_version: int
) -> None:
    names = request.subscribed_topic_names
    is_invalid = not request.group_id or "" in (request.instance_id, request.rack_id)
    is_invalid |= api_version >= _OWN_MEMBER_ID_VERSION and not request.member_id
    if request.member_epoch == 0:
        is_invalid |= request.rebalance_timeout_ms == -1 or request.topic_partitions != []
        is_invalid |= names is None and request.subscribed_topic_regex is None
    elif request.member_epoch == LEAVE_FOR_A_WHILE_EPOCH:
        is_invalid |= request.instance_id is None or not request.member_id
    else:
        is_invalid |= request.member_epoch < LEAVE_EPOCH or not request.member_id
    if is_invalid:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise CoordinatorError(ErrorCode.UNSUPPORTED_ASSIGNOR)


def check_epoch(member: Member, request: ConsumerGroupHeartbeatRequest) -> None:
    """A member may be one epoch behind where the answer that told it may have been lost."""
    if request.member_epoch in (0, member.epoch):
        return
    owned = owned_partitions(request)
    is_behind = request.member_epoch == member.previous_epoch
    if is_behind and owned is not None and owned <= member.assigned:
        return
    raise CoordinatorError(ErrorCode.FENCED_MEMBER_EPOCH)


def with_wishes(
    member: Member, request: ConsumerGroupHeartbeatRequest, client: ClientInfo
) -> Member:
    """What the request does not say stays as it was."""
    names, expression = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        client_id=client.client_id,
        client_host=f"/{client.host}",
        topics=member.topics if names is None else frozenset(names),
        expression=member.expression if expression is None else expression or None,
        assignor=request.server_assignor or member.assignor,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        classic=None,
    )


def owned_partitions(request: ConsumerGroupHeartbeatRequest) -> Partitions | None:
    if request.topic_partitions is None:
        return None
    return frozenset(
        Partition(topic.topic_id, index)
        for topic in request.topic_partitions
        for index in topic.partitions
    )
