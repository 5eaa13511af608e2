"""Whatever happens to a cluster, in any order, partitions stay sound."""

from random import Random

import pytest

from snakka.controller.alter_partition import alter_partition
from snakka.controller.broker_fencing import fence, unfence
from snakka.controller.broker_registration import register_broker
from snakka.controller.elect_leaders import balance_leaders, elect_uncleanly
from snakka.controller.reassignments import alter_reassignments
from snakka.metadata.partition import NO_LEADER
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import ConfigRecord, FeatureLevelRecord
from snakka.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from snakka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from snakka.protocol.types import random_uuid
from tests.controller.making import NOW_MS, Cluster, brokers, topic, topic_id
from tests.controller.test_brokers import request

BROKERS = (1, 2, 3, 4)


class Chaos:
    """One random step after another, each followed by a look at every partition."""

    def __init__(self, seed: int, has_elr: bool, is_unclean: bool) -> None:
        self.random = Random(seed)
        self.has_elr = has_elr
        self.is_unclean = is_unclean
        self.cluster = Cluster(
            *brokers(*BROKERS),
            FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=int(has_elr)),
            config("min.insync.replicas", "2"),
            config("unclean.leader.election.enable", str(is_unclean).lower()),
            *topic("orders", 1, (1, 2, 3), (2, 3, 4), (4, 1)),
        )

    def step(self) -> None:
        before = {id_: self.cluster.partition(1, id_) for id_ in range(3)}
        choices = [self.fence, self.unfence, self.unfence, self.alter, self.alter,
                   self.restart, self.reassign, self.balance]  # fmt: skip
        self.random.choice(choices)()
        self.cluster.check()
        for partition_id, was in before.items():
            now = self.cluster.partition(1, partition_id)
            assert set(now.isr) <= set(now.replicas)
            assert set(now.elr) <= set(now.replicas)
            assert not set(now.isr) & set(now.elr)
            assert len(now.directories) == len(now.replicas) == len(set(now.replicas)) > 0
            assert now.leader == NO_LEADER or now.leader in now.isr
            assert now.leader == NO_LEADER or self.cluster.view.image.is_active(now.leader)
            assert now.isr or self.has_elr, "without ELR somebody must know all records"
            assert now.leader_epoch >= was.leader_epoch
            assert now.leader in (was.leader, NO_LEADER) or now.leader_epoch > was.leader_epoch
            if not self.is_unclean:
                # Where nobody is left who has all records, the last leader has most (KIP-966).
                last = () if was.isr or now.elr else was.last_known_elr
                assert not now.leader_recovery_state or was.leader_recovery_state or last
                allowed = {*was.isr, *was.elr, *self.joined, *last}
                assert now.leader in (NO_LEADER, *allowed)
                assert set(now.isr) <= allowed, "nobody comes into the ISR but by its leader"

    def fence(self) -> None:
        self.joined: tuple[int, ...] = ()
        broker = self.cluster.view.image.brokers[self.random.choice(BROKERS)]
        if not broker.fenced:
            self.cluster.apply(fence(self.cluster.view, broker))

    def unfence(self) -> None:
        self.joined = ()
        broker = self.cluster.view.image.brokers[self.random.choice(BROKERS)]
        if broker.fenced:
            self.cluster.apply(unfence(self.cluster.view, broker))

    def restart(self) -> None:
        self.joined = ()
        broker_id = self.random.choice(BROKERS)
        epoch = self.cluster.view.image.brokers[broker_id].epoch
        asked = request(
            broker_id,
            incarnation=random_uuid(self.random),
            previous_epoch=self.random.choice([-1, epoch]),
        )
        view, sessions = self.cluster.view, self.cluster.sessions
        self.cluster.decide(register_broker(view, sessions, asked, NOW_MS))

    def alter(self) -> None:
        partition_id = self.random.randrange(3)
        partition = self.cluster.partition(1, partition_id)
        self.joined = partition.replicas
        if partition.leader == NO_LEADER:
            return
        active = [each for each in partition.replicas if self.cluster.view.image.is_active(each)]
        isr = {partition.leader, *self.random.sample(active, self.random.randint(1, len(active)))}
        if partition.leader_recovery_state:
            isr = {partition.leader}
        epochs = {each: self.cluster.view.image.brokers[each].epoch for each in isr}
        data = RequestPartitionData(
            partition_index=partition_id,
            leader_epoch=partition.leader_epoch,
            new_isr=[],
            new_isr_with_epochs=[
                BrokerState(broker_id=each, broker_epoch=epoch) for each, epoch in epochs.items()
            ],
            leader_recovery_state=0,
            partition_epoch=partition.partition_epoch,
        )
        asked = AlterPartitionRequest(
            broker_id=partition.leader,
            broker_epoch=epochs[partition.leader],
            topics=[RequestTopicData(topic_id=topic_id(1), partitions=[data])],
        )
        response = self.cluster.decide(alter_partition(self.cluster.view, asked))
        # The ISR may have wound up a reassignment, and then another leads.
        code = response.topics[0].partitions[0].error_code
        assert code in (ErrorCode.NONE, ErrorCode.NEW_LEADER_ELECTED)

    def reassign(self) -> None:
        self.joined = ()
        replicas = self.random.choice([None, self.random.sample(BROKERS, 2)])
        partition = ReassignablePartition(
            partition_index=self.random.randrange(3), replicas=replicas
        )
        asked = AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name="orders", partitions=[partition])]
        )
        self.cluster.decide(alter_reassignments(self.cluster.view, asked))

    def balance(self) -> None:
        self.joined = ()
        self.cluster.decide(balance_leaders(self.cluster.view))
        self.cluster.decide(elect_uncleanly(self.cluster.view))


def config(name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name="orders", name=name, value=value)


@pytest.mark.parametrize("is_unclean", [False, True])
@pytest.mark.parametrize("has_elr", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_partitions_stay_sound(seed: int, has_elr: bool, is_unclean: bool) -> None:
    chaos = Chaos(seed, has_elr, is_unclean)
    for _ in range(150):
        chaos.step()
