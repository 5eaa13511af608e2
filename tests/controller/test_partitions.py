"""AlterPartition, ElectLeaders, reassignments, log directories."""

from collections.abc import Sequence

import pytest

from snakka.controller.alter_partition import alter_partition
from snakka.controller.assign_directories import assign_replicas_to_dirs
from snakka.controller.broker_fencing import fence, unfence
from snakka.controller.elect_leaders import (
    ELECTIONS_MAX,
    balance_leaders,
    elect_leaders,
    elect_uncleanly,
)
from snakka.controller.reassignments import alter_reassignments, list_reassignments
from snakka.metadata.partition import NO_LEADER
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import (
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
)
from snakka.protocol.messages import (
    alter_partition as altering,
)
from snakka.protocol.messages import (
    alter_partition_reassignments as reassigning,
)
from snakka.protocol.messages import (
    assign_replicas_to_dirs as assigning,
)
from snakka.protocol.messages import (
    elect_leaders as electing,
)
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from snakka.protocol.types import Uuid
from tests.controller.making import Cluster, brokers, topic, topic_id
from tests.metadata.making import log_dir, register, uuid

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

    def test_ends_once_those_that_stay_are_in_sync(self) -> None:
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


def assign(
    cluster: Cluster, directory: Uuid, *wanted: tuple[int, int], epoch: int = 100
) -> list[int]:
    asked = assigning.AssignReplicasToDirsRequest(
        broker_id=1,
        broker_epoch=epoch,
        directories=[
            assigning.RequestDirectoryData(
                id=directory,
                topics=[
                    assigning.RequestTopicData(
                        topic_id=topic_id(number),
                        partitions=[assigning.RequestPartitionData(partition_index=id_)],
                    )
                    for number, id_ in wanted
                ],
            )
        ],
    )
    response = cluster.decide(assign_replicas_to_dirs(cluster.view, asked))
    cluster.check()
    if response.error_code:
        return [response.error_code]
    return [
        partition.error_code
        for each in response.directories[0].topics
        for partition in each.partitions
    ]


class TestDirectories:
    def test_are_assigned(self) -> None:
        first = register(1)
        first.log_dirs.append(uuid(50))
        cluster = Cluster(first, register(2), *topic("orders", 1, (1, 2), (2,)))
        assert assign(cluster, uuid(50), (1, 0), (1, 1), (1, 9), (9, 0)) == [
            ErrorCode.NONE,
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.UNKNOWN_TOPIC_ID,
        ]
        assert cluster.partition(1).directories == (uuid(50), log_dir(2))
        assert cluster.partition(1).leader_epoch == 0

    def test_that_have_failed_take_the_replica_out_of_the_isr(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        assert assign(cluster, uuid(60), (1, 0)) == [ErrorCode.NONE]
        partition = cluster.partition(1)
        assert (partition.leader, partition.isr) == (2, (2,))
        assert partition.directories == (uuid(60), log_dir(2))

    def test_of_a_stale_broker_are_refused(self) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        assert assign(cluster, log_dir(1), (1, 0), epoch=99) == [ErrorCode.STALE_BROKER_EPOCH]
