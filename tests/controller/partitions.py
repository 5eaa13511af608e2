"""What tests of partitions do to them: take brokers down and up, alter an ISR."""

from collections.abc import Sequence

from snakka.controller.alter_partition import alter_partition
from snakka.controller.broker_fencing import fence, unfence
from snakka.protocol.internal.metadata import (
    ConfigRecord,
    FeatureLevelRecord,
)
from snakka.protocol.messages import (
    alter_partition as altering,
)
from tests.controller.making import Cluster, topic_id

NO_ELR = FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=0)


def config(name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name="orders", name=name, value=value)


UNCLEAN = config("unclean.leader.election.enable", "true")


MIN_ISR_2 = config("min.insync.replicas", "2")


def down(cluster: Cluster, *broker_ids: int) -> None:
    for broker_id in broker_ids:
        cluster.apply(fence(cluster.view, cluster.view.image.brokers[broker_id]))
        cluster.check()


def up(cluster: Cluster, *broker_ids: int) -> None:
    for broker_id in broker_ids:
        cluster.apply(unfence(cluster.view, cluster.view.image.brokers[broker_id]))
        cluster.check()


def alter(
    cluster: Cluster,
    isr: Sequence[tuple[int, int]],
    *,
    broker_id: int = 1,
    broker_epoch: int = 100,
    leader_epoch: int = 0,
    partition_epoch: int = 0,
    recovery: int = 0,
    number: int = 1,
    partition_id: int = 0,
) -> int:
    """Each of the ISR is a broker and its epoch. Returns the partition's error code."""
    data = altering.RequestPartitionData(
        partition_index=partition_id,
        leader_epoch=leader_epoch,
        new_isr=[],
        new_isr_with_epochs=[
            altering.BrokerState(broker_id=each, broker_epoch=epoch) for each, epoch in isr
        ],
        leader_recovery_state=recovery,
        partition_epoch=partition_epoch,
    )
    asked = altering.AlterPartitionRequest(
        broker_id=broker_id,
        broker_epoch=broker_epoch,
        topics=[altering.RequestTopicData(topic_id=topic_id(number), partitions=[data])],
    )
    response = cluster.decide(alter_partition(cluster.view, asked))
    cluster.check()
    if response.error_code:
        return response.error_code
    return response.topics[0].partitions[0].error_code
