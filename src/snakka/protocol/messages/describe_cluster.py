"""DescribeCluster (key 60): cluster id, controller and brokers.

KIP-700, KIP-919 controllers (v1), KIP-1073 fenced brokers (v2).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32


class DescribeClusterRequest(
    Request, key=60, versions="0-2", flexible="0+", listeners=Listeners.BOTH
):
    include_cluster_authorized_operations: bool
    endpoint_type: Int8 = field("1+", default=1)
    include_fenced_brokers: bool = field("2+")


class DescribeClusterBroker(Struct):
    broker_id: Int32
    host: str
    port: Int32
    rack: str | None = None
    is_fenced: bool = field("2+")


class DescribeClusterResponse(Response, key=60, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = None
    endpoint_type: Int8 = field("1+", default=1)
    cluster_id: str
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: Int32 = -2147483648
