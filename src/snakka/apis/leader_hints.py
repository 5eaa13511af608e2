"""Where the leader of a partition is, for a client that asked somebody else (KIP-951).

The partition's own replica knows best; without one here the metadata log says it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from snakka.apis.cluster import Reachable, find_broker
from snakka.apis.context import RequestContext
from snakka.metadata.image import Topic
from snakka.protocol.types import Uuid
from snakka.replication.replica import Replica

_NOBODY = -1


class Leader(NamedTuple):
    leader_id: int = _NOBODY
    leader_epoch: int = _NOBODY


def find_leader(context: RequestContext, topic: str | Uuid, index: int) -> Leader:
    """Who leads a partition of a topic, which goes by its name or by its id."""
    known = _find_topic(context, topic)
    replica = None if known is None else context.replicas.find(known.name, index)
    if replica is not None:
        return _leader(replica)
    partition = None if known is None else known.partitions.get(index)
    return Leader() if partition is None else Leader(partition.leader, partition.leader_epoch)


def endpoints(context: RequestContext, leaders: Iterable[Leader]) -> list[Reachable]:
    """The brokers among those leaders that live, as the client's listener reaches them."""
    found = (
        find_broker(context.image, leader_id, context.peer.listener)
        for leader_id in dict.fromkeys(each.leader_id for each in leaders)
    )
    return [each for each in found if each is not None and not each.is_fenced]


def _find_topic(context: RequestContext, topic: str | Uuid) -> Topic | None:
    topics = context.image.topics
    return topics.find(topic) if isinstance(topic, str) else topics.by_id.get(topic)


def _leader(replica: Replica) -> Leader:
    assignment = replica.partition.assignment
    return Leader(assignment.leader, assignment.leader_epoch)
