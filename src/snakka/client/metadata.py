"""What a client knows of a cluster: its nodes, and topics with their ids, leaders and epochs.

An immutable value; each answer to Metadata makes the next one. An answer from a node that lags
behind does not take back a newer leader (KIP-320), unless the topic was created anew.

Not here: asking for it (cluster.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from snakka.client.address import Address
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from snakka.protocol.types import Uuid


class Node(NamedTuple):
    id: int
    address: Address
    rack: str | None


class _Endpoint(Protocol):
    """A node as answers name it next to their errors."""

    @property
    def node_id(self) -> int: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def rack(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """A partition; `leader_id` is negative while it has none."""

    index: int
    leader_id: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic; `available` are the partitions with a leader, or all where none has one."""

    name: str
    id: Uuid
    is_internal: bool
    partitions: Mapping[int, PartitionInfo]
    available: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """Topics that were asked for are in `topics`, or in `refusals` with the reason why not."""

    cluster_id: str | None = None
    controller_id: int = -1
    nodes: Mapping[int, Node] = field(default_factory=dict)
    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    refusals: Mapping[str, ErrorCode] = field(default_factory=dict)

    def find_topic_by_id(self, topic_id: Uuid) -> TopicInfo | None:
        return next((each for each in self.topics.values() if each.id == topic_id), None)

    def find_partition(self, topic: str, partition: int) -> PartitionInfo | None:
        known = self.topics.get(topic)
        return None if known is None else known.partitions.get(partition)

    def after(self, answer: MetadataResponse) -> "ClusterMetadata":
        """With what an answer tells; topics that it does not mention stay."""
        topics, refusals = dict(self.topics), dict(self.refusals)
        for each in answer.topics:
            if each.name is None:
                continue
            topics.pop(each.name, None)
            refusals.pop(each.name, None)
            if each.error_code:
                refusals[each.name] = ErrorCode(each.error_code)
            else:
                topics[each.name] = _topic(each.name, each, self.topics.get(each.name))
        return ClusterMetadata(
            cluster_id=answer.cluster_id,
            controller_id=answer.controller_id,
            nodes={each.id: each for each in nodes_of(answer.brokers)},
            topics=topics,
            refusals=refusals,
        )

    def with_leader(
        self, topic: str, partition: int, leader_id: int, leader_epoch: int
    ) -> "ClusterMetadata":
        """With a leader that an answer hinted at (KIP-951), if it is news."""
        info = self.topics.get(topic)
        known = self.find_partition(topic, partition)
        if info is None or known is None or leader_epoch <= known.leader_epoch:
            return self
        changed = replace(known, leader_id=leader_id, leader_epoch=leader_epoch)
        return replace(
            self,
            topics={
                **self.topics,
                topic: replace(info, partitions={**info.partitions, partition: changed}),
            },
        )

    def with_nodes(self, nodes: Iterable[Node]) -> "ClusterMetadata":
        return replace(self, nodes={**self.nodes, **{each.id: each for each in nodes}})


def nodes_of(endpoints: Iterable[_Endpoint]) -> list[Node]:
    return [Node(each.node_id, Address(each.host, each.port), each.rack) for each in endpoints]


def _topic(name: str, told: MetadataResponseTopic, known: TopicInfo | None) -> TopicInfo:
    before = known.partitions if known is not None and known.id == told.topic_id else {}
    all_told = (_partition(each, before.get(each.partition_index)) for each in told.partitions)
    partitions = {each.index: each for each in all_told}
    available = tuple(each.index for each in partitions.values() if each.leader_id >= 0)
    return TopicInfo(
        name, told.topic_id, told.is_internal, partitions, available or tuple(partitions)
    )


def _partition(told: MetadataResponsePartition, known: PartitionInfo | None) -> PartitionInfo:
    info = PartitionInfo(
        told.partition_index,
        told.leader_id,
        told.leader_epoch,
        tuple(told.replica_nodes),
        tuple(told.isr_nodes),
        tuple(told.offline_replicas),
    )
    # Without an epoch (before Metadata v7) nothing can be told apart.
    if known is not None and 0 <= info.leader_epoch < known.leader_epoch:
        return known
    return info
