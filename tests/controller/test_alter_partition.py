import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import (
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
)
from tests.controller.making import Cluster, brokers, topic, topic_id
from tests.controller.partitions import NO_ELR, UNCLEAN, alter, down


class TestAlterPartition:
    def test_shrinks_and_grows_the_isr_without_a_leader_epoch(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        assert alter(cluster, [(1, 100)]) == ErrorCode.NONE
        assert cluster.partition(1).isr == (1,)
        assert alter(cluster, [(1, 100), (2, -1)], partition_epoch=1) == ErrorCode.NONE
        partition = cluster.partition(1)
        assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == ((1, 2), 0, 2)

    def test_bumps_the_leader_epoch_for_a_shrink_in_old_logs(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)), NO_ELR)
        cluster.apply([FeatureLevelRecord(name="metadata.version", feature_level=11)])
        shrunk = alter(cluster, [(1, 100)])
        assert shrunk == ErrorCode.NONE
        assert cluster.partition(1).leader_epoch == 1

    @pytest.mark.parametrize("epoch", [99, 101])
    def test_refuses_a_replica_that_has_restarted_since(self, epoch: int) -> None:
        # pitfall 25, KIP-903
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        code = alter(cluster, [(1, 100), (2, epoch)])
        assert code == ErrorCode.INELIGIBLE_REPLICA

    @pytest.mark.parametrize("state", [{"fenced": 1}, {"in_controlled_shutdown": 1}])
    def test_refuses_a_replica_that_is_fenced_or_leaving(self, state: dict[str, int]) -> None:
        change = {"fenced": 0, "in_controlled_shutdown": 0} | state
        cluster = Cluster(
            *brokers(1, 2),
            *topic("orders", 1, (1, 2)),
            BrokerRegistrationChangeRecord(
                broker_id=2,
                broker_epoch=100,
                fenced=change["fenced"],
                in_controlled_shutdown=change["in_controlled_shutdown"],
            ),
        )
        assert alter(cluster, [(1, 100), (2, 100)]) == ErrorCode.INELIGIBLE_REPLICA

    def test_refuses_stale_and_wrong_senders(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        cluster.apply(
            [PartitionChangeRecord(partition_id=0, topic_id=topic_id(1), leader=1, isr=[1, 2])]
        )
        isr = [(1, 100)]
        assert alter(cluster, isr, broker_epoch=99) == ErrorCode.STALE_BROKER_EPOCH
        assert alter(cluster, isr, broker_id=9) == ErrorCode.STALE_BROKER_EPOCH
        assert alter(cluster, isr) == ErrorCode.FENCED_LEADER_EPOCH
        assert alter(cluster, isr, leader_epoch=2) == ErrorCode.NOT_CONTROLLER
        assert alter(cluster, isr, leader_epoch=1, partition_epoch=2) == ErrorCode.NOT_CONTROLLER
        assert alter(cluster, isr, leader_epoch=1) == ErrorCode.INVALID_UPDATE_VERSION
        other = alter(cluster, [(2, 100)], broker_id=2, leader_epoch=1, partition_epoch=1)
        assert other == ErrorCode.INVALID_REQUEST
        assert alter(cluster, isr, number=9) == ErrorCode.UNKNOWN_TOPIC_ID
        assert alter(cluster, isr, partition_id=9) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert cluster.partition(1).isr == (1, 2)

    @pytest.mark.parametrize(
        ("isr", "recovery"),
        [
            ([], 0),
            ([(2, 100)], 0),
            ([(1, 100), (3, 100)], 0),
            ([(1, 100), (1, 100)], 0),
            ([(1, 100)], 1),
            ([(1, 100), (2, 100)], 1),
        ],
    )
    def test_refuses_an_impossible_isr(self, isr: list[tuple[int, int]], recovery: int) -> None:
        cluster = Cluster(*brokers(1, 2, 3), *topic("orders", 1, (1, 2)))
        assert alter(cluster, isr, recovery=recovery) == ErrorCode.INVALID_REQUEST

    def test_ends_the_recovery_after_an_unclean_election(self) -> None:
        cluster = Cluster(*brokers(1, 2), UNCLEAN, NO_ELR, *topic("orders", 1, (1, 2)))
        alter(cluster, [(1, 100)])
        down(cluster, 1)
        partition = cluster.partition(1)
        assert (partition.leader, partition.isr, partition.leader_recovery_state) == (2, (2,), 1)
        epochs = {
            "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch,
        }
        assert alter(cluster, [(2, 100)], broker_id=2, **epochs) == ErrorCode.NONE
        assert cluster.partition(1).leader_recovery_state == 0
