"""DescribeCluster (key 60) on a controller: the controllers, and which of them is active. KIP-919.

Not here: what brokers tell (describe_cluster.py).
"""

from collections.abc import Iterator
from typing import Final

from snakka.apis.authorization import NOT_REQUESTED, ON_CLUSTER
from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_CONTROLLERS: Final = 2
_NOBODY: Final = -1


@controller_api(ApiKey.DESCRIBE_CLUSTER)
async def describe_controllers(
    request: DescribeClusterRequest, context: NodeContext
) -> DescribeClusterResponse:
    cluster_id = context.services.cluster_id
    if request.endpoint_type != _CONTROLLERS:
        return DescribeClusterResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="a controller's listener tells of controllers",
            cluster_id=cluster_id,
            brokers=[],
        )
    leader_id = context.services.find_quorum().leader_id
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        endpoint_type=_CONTROLLERS,
        cluster_id=cluster_id,
        controller_id=_NOBODY if leader_id is None else leader_id,
        brokers=list(_registered(context)),
        cluster_authorized_operations=(
            ON_CLUSTER if request.include_cluster_authorized_operations else NOT_REQUESTED
        ),
    )


def _registered(context: NodeContext) -> Iterator[DescribeClusterBroker]:
    """The controllers, as they are reached on the listener that was asked."""
    for controller_id, controller in sorted(context.image.controllers.items()):
        for endpoint in controller.end_points:
            if endpoint.name == context.peer.listener:
                yield DescribeClusterBroker(
                    broker_id=controller_id, host=endpoint.host, port=endpoint.port
                )
