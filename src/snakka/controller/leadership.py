"""Who leads when brokers come and go.

A broker that goes is taken out of the ISRs it is in, and others lead in its place where one may;
when one comes, partitions without a leader look for one again.

Not here: how a leader is chosen (partition_change.py).
"""

from collections.abc import Callable, Iterable, Iterator

from snakka.controller.partition_change import Election, PartitionChange, Rules
from snakka.controller.partition_index import PartitionKey
from snakka.controller.view import View
from snakka.metadata.image import Topic
from snakka.metadata.partition import Partition
from snakka.protocol.internal.metadata import PartitionChangeRecord


def change_of(
    view: View,
    topic: Topic,
    partition_id: int,
    election: Election = Election.ONLINE,
    is_active: Callable[[int], bool] | None = None,
) -> PartitionChange:
    """A change of one partition, whose target is to be filled in.

    `is_active` where brokers are about to be other than the image has them.
    """
    partition = topic.partitions[partition_id]
    rules = Rules(
        can_lead=lambda broker_id: (
            (is_active or view.image.is_active)(broker_id)
            and has_online_dir(view, partition, broker_id)
        ),
        default_dir=view.default_dir,
        metadata_version=view.image.metadata_version,
        min_isr=view.min_isr(topic),
        has_elr=view.has_elr,
    )
    return PartitionChange(topic.topic_id, partition_id, partition, rules, election)


def has_online_dir(view: View, partition: Partition, broker_id: int) -> bool:
    """A replica that is only being assigned is nowhere yet, so its directory cannot have failed."""
    broker = view.image.brokers.get(broker_id)
    if broker is None or broker_id not in partition.replicas:
        return broker is not None
    return broker.has_online_dir(partition.directory(broker_id))


def configured_election(view: View, topic: Topic) -> Election:
    return Election.UNCLEAN if view.elects_uncleanly(topic.name) else Election.ONLINE


def without_broker(
    view: View, broker_id: int, keys: Iterable[PartitionKey] | None = None
) -> list[PartitionChangeRecord]:
    """A broker is no longer in any ISR, or in those of the given partitions."""

    def is_active(other: int) -> bool:
        return other != broker_id and view.image.is_active(other)

    if keys is None:
        keys = in_isr(view, broker_id)
    return list(_changes(view, keys, is_active, lost=broker_id))


def with_broker(view: View, broker_id: int) -> list[PartitionChangeRecord]:
    """A broker may lead again: what has no leader may have one now."""

    def is_active(other: int) -> bool:
        return other == broker_id or view.image.is_active(other)

    return list(_changes(view, tuple(view.partitions.leaderless), is_active))


def after_unclean_shutdown(view: View, broker_id: int) -> list[PartitionChangeRecord]:
    """A broker may have lost what it acknowledged: it is neither in sync nor eligible (KIP-966)."""

    def is_active(other: int) -> bool:
        return other != broker_id and view.image.is_active(other)

    keys = dict.fromkeys((*in_isr(view, broker_id), *in_elr(view, broker_id)))
    return list(_changes(view, keys, is_active, lost=broker_id, is_unclean=True))


def leads_any(view: View, broker_id: int) -> bool:
    return any(
        view.partition(key)[1].leader == broker_id for key in view.partitions.hosted(broker_id)
    )


def in_isr(view: View, broker_id: int) -> Iterator[PartitionKey]:
    hosted = view.partitions.hosted(broker_id)
    return (key for key in hosted if broker_id in view.partition(key)[1].isr)


def in_elr(view: View, broker_id: int) -> Iterator[PartitionKey]:
    hosted = view.partitions.hosted(broker_id)
    return (key for key in hosted if broker_id in view.partition(key)[1].elr)


def _changes(
    view: View,
    keys: Iterable[PartitionKey],
    is_active: Callable[[int], bool],
    *,
    lost: int | None = None,
    is_unclean: bool = False,
) -> Iterator[PartitionChangeRecord]:
    for key in keys:
        topic, partition = view.partition(key)
        election = configured_election(view, topic)
        change = change_of(view, topic, key.partition_id, election, is_active)
        change.isr = tuple(each for each in partition.isr if each != lost)
        if is_unclean and lost is not None:
            change.unclean_shutdown = (lost,)
        record = change.record()
        if record is not None:
            yield record
