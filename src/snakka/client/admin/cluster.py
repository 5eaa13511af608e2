"""What a cluster consists of: its nodes, who controls it, which features are in force."""

from collections.abc import Mapping
from dataclasses import dataclass

from snakka.client.cluster import Cluster
from snakka.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)


@dataclass(frozen=True, slots=True)
class DescribedNode:
    id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool


@dataclass(frozen=True, slots=True)
class DescribedCluster:
    id: str
    controller_id: int
    nodes: tuple[DescribedNode, ...]
    features: Mapping[str, int]


async def describe_cluster(cluster: Cluster) -> DescribedCluster:
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=False, include_fenced_brokers=True
    )
    answer = await cluster.ask_any(request, DescribeClusterResponse)
    nodes = (
        DescribedNode(each.broker_id, each.host, each.port, each.rack, each.is_fenced)
        for each in answer.brokers
    )
    return DescribedCluster(
        answer.cluster_id,
        answer.controller_id,
        tuple(sorted(nodes, key=lambda node: node.id)),
        await cluster.features(),
    )
