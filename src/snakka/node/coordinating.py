"""Coordinators come and go with the partitions of their topics that this broker leads."""

from typing import Protocol

from snakka.coordinators.ports import CoordinatorLog, Timers
from snakka.node.coordinator_log import ReplicaLog
from snakka.replication.replica import Replica


class Coordinator(Protocol):
    """Groups or transactions, or what else is kept in a topic of its own."""

    def on_partition_led(self, index: int, log: CoordinatorLog, leader_epoch: int) -> None: ...

    def on_partition_lost(self, index: int, leader_epoch: int) -> None: ...


class CoordinatorPartitions:
    """Tells a coordinator of the partitions of its topic."""

    def __init__(self, topic: str, coordinator: Coordinator, timers: Timers) -> None:
        self._topic = topic
        self._coordinator = coordinator
        self._timers = timers

    def on_led(self, replica: Replica) -> None:
        if replica.topic == self._topic:
            epoch = replica.partition.assignment.leader_epoch
            log = ReplicaLog(replica, self._timers)
            self._coordinator.on_partition_led(replica.index, log, epoch)

    def on_lost(self, topic: str, index: int, leader_epoch: int) -> None:
        if topic == self._topic:
            self._coordinator.on_partition_lost(index, leader_epoch)
