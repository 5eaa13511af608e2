from snakka.controller.assign_directories import assign_replicas_to_dirs
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages import (
    assign_replicas_to_dirs as assigning,
)
from snakka.protocol.types import Uuid
from tests.controller.making import Cluster, brokers, topic, topic_id
from tests.metadata.making import log_dir, register, uuid


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
