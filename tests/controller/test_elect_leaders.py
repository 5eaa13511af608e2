from snakka.controller.elect_leaders import (
    ELECTIONS_MAX,
    balance_leaders,
    elect_leaders,
    elect_uncleanly,
)
from snakka.metadata.partition import NO_LEADER
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import (
    PartitionChangeRecord,
)
from snakka.protocol.messages import (
    elect_leaders as electing,
)
from tests.controller.making import Cluster, brokers, topic, topic_id
from tests.controller.partitions import NO_ELR, UNCLEAN, alter, down, up
from tests.metadata.making import register


def elect(
    cluster: Cluster, kind: int, *wanted: tuple[str, int], everything: bool = False
) -> list[tuple[int, str | None]]:
    asked = electing.ElectLeadersRequest(
        election_type=kind,
        topic_partitions=None
        if everything
        else [electing.TopicPartitions(topic=name, partitions=[id_]) for name, id_ in wanted],
    )
    response = cluster.decide(elect_leaders(cluster.view, asked))
    cluster.check()
    if response.error_code:
        return [(response.error_code, None)]
    return [
        (partition.error_code, partition.error_message)
        for each in response.replica_election_results
        for partition in each.partition_result
    ]


class TestElectLeaders:
    def test_preferred(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2), (2, 1)))
        down(cluster, 1)
        assert elect(cluster, 0, ("orders", 0))[0][0] == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
        up(cluster, 1)
        partition = cluster.partition(1)
        epochs = {"leader_epoch": 1, "partition_epoch": partition.partition_epoch}
        alter(cluster, [(2, 100), (1, 100)], broker_id=2, **epochs)
        assert elect(cluster, 0, everything=True) == [(0, None)]
        assert cluster.partition(1).leader == 1
        code, message = elect(cluster, 0, ("orders", 0))[0]
        assert code == ErrorCode.ELECTION_NOT_NEEDED
        assert message == ErrorCode.ELECTION_NOT_NEEDED.message

    def test_unclean(self) -> None:
        cluster = Cluster(*brokers(1, 2), NO_ELR, *topic("orders", 1, (1, 2)))
        assert elect(cluster, 1, ("orders", 0))[0][0] == ErrorCode.ELECTION_NOT_NEEDED
        alter(cluster, [(1, 100)])
        down(cluster, 1)
        assert cluster.partition(1).leader == NO_LEADER
        assert elect(cluster, 1, ("orders", 0)) == [(0, None)]
        assert (cluster.partition(1).leader, cluster.partition(1).isr) == (2, (2,))
        down(cluster, 2)
        assert elect(cluster, 1, ("orders", 0))[0][0] == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE

    def test_refuses(self) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        assert elect(cluster, 7, ("orders", 0)) == [(ErrorCode.INVALID_REQUEST, None)]
        assert elect(cluster, 0, ("gone", 0)) == [(3, "No such topic as gone")]
        assert elect(cluster, 0, ("orders", 5)) == [(3, "No such partition as orders-5")]

    def test_balances_by_itself_a_thousand_at_a_time(self) -> None:
        replicas = [(1, 2)] * (ELECTIONS_MAX + 5)
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, *replicas))
        cluster.apply(
            [
                PartitionChangeRecord(partition_id=each, topic_id=topic_id(1), leader=2)
                for each in range(len(replicas))
            ]
        )
        assert cluster.decide(balance_leaders(cluster.view)) is True
        assert len(cluster.view.partitions.imbalanced) == 5
        assert cluster.decide(balance_leaders(cluster.view)) is False
        assert not cluster.view.partitions.imbalanced
        cluster.check()

    def test_elects_uncleanly_by_itself_once_the_topic_says_so(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        alter(cluster, [(1, 100)])
        down(cluster, 1)
        assert not elect_uncleanly(cluster.view).records
        cluster.apply([UNCLEAN])
        cluster.decide(elect_uncleanly(cluster.view))
        assert cluster.partition(1).leader == 2
