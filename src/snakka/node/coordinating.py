"""Coordinators come and go with the partitions of their topics that this broker leads."""

from snakka.apis.cluster import OFFSETS_TOPIC
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.ports import Timers
from snakka.node.coordinator_log import ReplicaLog
from snakka.replication.replica import Replica


class GroupPartitions:
    """Tells the group coordinator of its partitions."""

    def __init__(self, groups: Groups, timers: Timers) -> None:
        self._groups = groups
        self._timers = timers

    def on_led(self, replica: Replica) -> None:
        if replica.topic == OFFSETS_TOPIC:
            epoch = replica.partition.assignment.leader_epoch
            log = ReplicaLog(replica, self._timers)
            self._groups.on_partition_led(replica.index, log, epoch)

    def on_lost(self, topic: str, index: int, leader_epoch: int) -> None:
        if topic == OFFSETS_TOPIC:
            self._groups.on_partition_lost(index, leader_epoch)
