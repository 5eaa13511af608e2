import pytest

from snakka.controller.reassignments import alter_reassignments, list_reassignments
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages import (
    alter_partition_reassignments as reassigning,
)
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.controller.making import Cluster, brokers, topic
from tests.controller.partitions import alter, down
from tests.metadata.making import log_dir, register


def move(
    cluster: Cluster,
    replicas: list[int] | None,
    *,
    name: str = "orders",
    partition_id: int = 0,
    may_resize: bool = True,
) -> tuple[int, str | None]:
    asked = reassigning.AlterPartitionReassignmentsRequest(
        allow_replication_factor_change=may_resize,
        topics=[
            reassigning.ReassignableTopic(
                name=name,
                partitions=[
                    reassigning.ReassignablePartition(
                        partition_index=partition_id, replicas=replicas
                    )
                ],
            )
        ],
    )
    response = cluster.decide(alter_reassignments(cluster.view, asked))
    cluster.check()
    (result,) = response.responses[0].partitions
    return result.error_code, result.error_message


def ongoing(cluster: Cluster, topics: list[ListPartitionReassignmentsTopics] | None) -> list[
    tuple[str, int, list[int], list[int]]
]:  # fmt: skip
    response = list_reassignments(cluster.view, ListPartitionReassignmentsRequest(topics=topics))
    return [
        (each.name, partition.partition_index, partition.adding_replicas,
         partition.removing_replicas)
        for each in response.topics
        for partition in each.partitions
    ]  # fmt: skip


class TestReassignment:
    def start(self) -> Cluster:
        cluster = Cluster(*brokers(1, 2, 3, 4), *topic("orders", 1, (1, 2)))
        assert move(cluster, [3, 4]) == (0, None)
        return cluster

    def test_adds_the_new_replicas_beside_the_old(self) -> None:
        cluster = self.start()
        partition = cluster.partition(1)
        assert partition.replicas == (3, 4, 1, 2)
        assert (partition.adding_replicas, partition.removing_replicas) == ((3, 4), (1, 2))
        assert (partition.leader, partition.isr) == (1, (1, 2))
        assert partition.directories == tuple(map(log_dir, (3, 4, 1, 2)))
        assert ongoing(cluster, None) == [("orders", 0, [3, 4], [1, 2])]
        asked = ListPartitionReassignmentsTopics(name="orders", partition_indexes=[0, 7])
        gone = ListPartitionReassignmentsTopics(name="gone", partition_indexes=[0])
        assert ongoing(cluster, [asked, gone]) == [("orders", 0, [3, 4], [1, 2])]

    def test_ends_once_those_that_come_are_in_sync(self) -> None:
        cluster = self.start()
        assert alter(cluster, [(1, 100), (2, 100), (3, 100)], partition_epoch=1) == 0
        assert cluster.partition(1).is_reassigning
        everyone = [(1, 100), (2, 100), (3, 100), (4, 100)]
        code = alter(cluster, everyone, partition_epoch=2)
        assert code == ErrorCode.NEW_LEADER_ELECTED, "the sender is no replica any more"
        partition = cluster.partition(1)
        assert (partition.replicas, partition.isr, partition.leader) == ((3, 4), (3, 4), 3)
        assert not partition.is_reassigning
        assert partition.leader_epoch == 1
        assert ongoing(cluster, None) == []

    def test_does_not_wait_for_one_that_lags_anyway(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3, 4), *topic("orders", 1, (1, 2, 3)))
        alter(cluster, [(1, 100), (2, 100)])
        assert move(cluster, [1, 3, 4]) == (0, None)
        alter(cluster, [(1, 100), (2, 100), (4, 100)], partition_epoch=2)
        partition = cluster.partition(1)
        assert (partition.replicas, partition.isr) == ((1, 3, 4), (1, 4))
        assert not partition.is_reassigning

    def test_to_fewer_replicas_waits_for_all_that_stay(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3), *topic("orders", 1, (1, 2, 3)))
        alter(cluster, [(1, 100), (2, 100)])
        assert move(cluster, [1, 3]) == (0, None)
        assert cluster.partition(1).is_reassigning
        alter(cluster, [(1, 100), (2, 100), (3, 100)], partition_epoch=2)
        partition = cluster.partition(1)
        assert (partition.replicas, partition.isr) == ((1, 3), (1, 3))

    def test_that_only_reorders_ends_at_once(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        assert move(cluster, [2, 1]) == (0, None)
        partition = cluster.partition(1)
        assert (partition.replicas, partition.leader) == ((2, 1), 1)
        assert not partition.is_reassigning

    def test_is_cancelled(self) -> None:
        cluster = self.start()
        alter(cluster, [(1, 100), (2, 100), (3, 100)], partition_epoch=1)
        assert move(cluster, None) == (0, None)
        partition = cluster.partition(1)
        assert (set(partition.replicas), partition.isr) == ({1, 2}, (1, 2))
        assert not partition.is_reassigning
        assert move(cluster, None) == (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)

    def test_is_not_cancelled_where_that_would_lose_records(self) -> None:
        cluster = self.start()
        alter(cluster, [(1, 100), (3, 100)], partition_epoch=1)
        down(cluster, 1)
        assert cluster.partition(1).isr == (3,)
        assert move(cluster, None) == (
            39,
            "Unable to revert partition assignment for orders:0 because it would require an"
            " unclean leader election.",
        )

    def test_is_replaced_by_another(self) -> None:
        cluster = self.start()
        assert move(cluster, [1, 2, 4]) == (0, None)
        partition = cluster.partition(1)
        assert (partition.adding_replicas, partition.removing_replicas) == ((3, 4), (3,))
        assert move(cluster, None) == (0, None)
        assert cluster.partition(1).replicas == (1, 2)

    @pytest.mark.parametrize(
        ("replicas", "code", "message"),
        [
            ([], 39, "The manual partition assignment includes an empty replica list."),
            ([1, 9], 39, "The manual partition assignment includes broker 9, but no such broker is"
             " registered."),
            ([1, 1], 39, "The manual partition assignment includes the broker 1 more than once."),
            ([1, 2, 3], 38, "The replication factor is changed from 2 to 3"),
        ],
    )  # fmt: skip
    def test_refuses(self, replicas: list[int], code: int, message: str) -> None:
        cluster = Cluster(*brokers(1, 2, 3), *topic("orders", 1, (1, 2)))
        assert move(cluster, replicas, may_resize=False) == (code, message)

    def test_refuses_what_is_not_there(self) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        assert move(cluster, [1], name="gone") == (3, "Unable to find a topic named gone.")
        assert move(cluster, [1], partition_id=4) == (3, "Unable to find partition orders:4.")
