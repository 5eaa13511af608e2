"""DescribeCluster (key 60): cluster id, controller and brokers.

KIP-430 authorized operations, KIP-700, KIP-1073 fenced brokers (v2).

Not here: what controllers tell (describe_controllers.py).
"""

from typing import Final

from snakka.apis.authorization import NOT_REQUESTED, ON_CLUSTER
from snakka.apis.cluster import find_forwarder, reachable_brokers
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_BROKERS: Final = 1


@api(ApiKey.DESCRIBE_CLUSTER)
async def describe_cluster(
    request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse:
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="a broker's listener tells of brokers",
            cluster_id=context.services.cluster_id,
            brokers=[],
        )
    brokers = list(
        reachable_brokers(
            context.image, context.peer.listener, with_fenced=request.include_fenced_brokers
        )
    )
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        cluster_id=context.services.cluster_id,
        controller_id=find_forwarder(context.image, context.services.config.node_id),
        brokers=[
            DescribeClusterBroker(
                broker_id=each.broker_id,
                host=each.host,
                port=each.port,
                rack=each.rack,
                is_fenced=each.is_fenced,
            )
            for each in brokers
        ],
        cluster_authorized_operations=(
            ON_CLUSTER if request.include_cluster_authorized_operations else NOT_REQUESTED
        ),
    )
