from snakka.metadata.partition import NO_LEADER
from tests.controller.making import Cluster, brokers, topic
from tests.controller.partitions import MIN_ISR_2, NO_ELR, UNCLEAN, alter, down, up


class TestElectionsOnFailure:
    def test_an_isr_keeps_its_last_member_without_elr(self) -> None:
        cluster = Cluster(*brokers(1, 2), NO_ELR, *topic("orders", 1, (1, 2)))
        down(cluster, 1, 2)
        assert (cluster.partition(1).leader, cluster.partition(1).isr) == (NO_LEADER, (2,))
        up(cluster, 1)
        assert cluster.partition(1).leader == NO_LEADER
        up(cluster, 2)
        assert cluster.partition(1).leader == 2

    def test_below_the_minimal_isr_those_who_fall_out_stay_eligible(self) -> None:
        # pitfall 25, KIP-966
        cluster = Cluster(*brokers(1, 2, 3), MIN_ISR_2, *topic("orders", 1, (1, 2, 3)))
        down(cluster, 3)
        assert cluster.partition(1).elr == ()
        down(cluster, 2)
        assert (cluster.partition(1).isr, cluster.partition(1).elr) == ((1,), (2,))
        down(cluster, 1)
        partition = cluster.partition(1)
        assert (partition.leader, partition.isr, set(partition.elr)) == (NO_LEADER, (), {1, 2})
        assert partition.last_known_elr == (1,)
        up(cluster, 3)
        assert cluster.partition(1).leader == NO_LEADER, "3 misses what 1 and 2 acknowledged"
        up(cluster, 2)
        partition = cluster.partition(1)
        assert (partition.leader, partition.isr, partition.elr) == (2, (2,), (1,))
        assert partition.last_known_elr == ()
        assert partition.leader_recovery_state == 0

    def test_the_isr_grown_back_needs_no_eligible_ones(self) -> None:
        cluster = Cluster(*brokers(1, 2), MIN_ISR_2, *topic("orders", 1, (1, 2)))
        alter(cluster, [(1, 100)])
        assert cluster.partition(1).elr == (2,)
        alter(cluster, [(1, 100), (2, 100)], partition_epoch=1)
        assert cluster.partition(1).elr == ()

    def test_an_unclean_leader_takes_over_where_the_topic_says_so(self) -> None:
        cluster = Cluster(*brokers(1, 2), UNCLEAN, *topic("orders", 1, (1, 2)))
        alter(cluster, [(1, 100)])
        down(cluster, 1)
        partition = cluster.partition(1)
        assert (partition.leader, partition.isr, partition.elr) == (2, (2,), ())
        assert partition.leader_recovery_state == 1
