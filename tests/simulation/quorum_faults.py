"""What goes wrong in a simulated quorum, and what administrators do to it meanwhile.

Leaders are hit more often than chance would: it is their absence that is interesting.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from snakka.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from snakka.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from snakka.protocol.schema import Request
from snakka.protocol.types import Uuid, random_uuid
from snakka.quorum.quorum import LocalReplica
from snakka.quorum.voters import ReplicaKey
from tests.simulation.quorum_cluster import ADMIN, CLUSTER_ID, QuorumCluster
from tests.simulation.quorum_node import Packet, SimulatedNode

_LEADER_CHANCE = 0.4
_CLOCK_JUMPS_MS = (-400, -50, 100, 500, 5_000)


@dataclass(slots=True)
class QuorumFaults:
    cluster: QuorumCluster
    voter_changes: int
    lost: ReplicaKey | None = None  # whose disk is gone

    def strike(self) -> None:
        """One fault, by chance."""
        dynamic = int(self.cluster.is_dynamic)
        faults: dict[Callable[[], None], int] = {
            self._cut_one_way: 5,
            self._isolate: 3,
            self.cluster.network.heal: 8,
            self._crash: 5,
            self._crash_all: 1,
            self._restart: 8,
            self._jump_clock: 2,
            self._snapshot: 5,
            self._clean: 4,
            self._resign: 1,
            self._shut_down: 1,
            self._change_voters: self.voter_changes * dynamic,
            self._lose_disk: dynamic,
        }
        (fault,) = self.cluster.rng.choices(list(faults), list(faults.values()))
        fault()

    def _find_node(self, *, is_up: bool = True) -> SimulatedNode | None:
        found = [node for node in self.cluster.nodes.values() if node.is_up == is_up]
        return self.cluster.rng.choice(found) if found else None

    def _find_victim(self) -> SimulatedNode | None:
        leaders = self.cluster.find_leaders()
        if leaders and self.cluster.rng.random() < _LEADER_CHANCE:
            return self.cluster.rng.choice(leaders)
        return self._find_node()

    def _cut_one_way(self) -> None:
        source, target = self._find_node(), self._find_node()
        if source and target and source is not target:
            self.cluster.network.cut(source.name, target.name)

    def _isolate(self) -> None:
        node = self._find_victim()
        if node:
            inbound, outbound = self.cluster.rng.choice(
                ((True, True), (True, False), (False, True))
            )
            self.cluster.network.isolate(node.name, inbound=inbound, outbound=outbound)

    def _crash(self) -> None:
        node = self._find_victim()
        if node:
            node.crash()

    def _crash_all(self) -> None:
        """A power failure."""
        for node in self.cluster.nodes.values():
            if node.is_up:
                node.crash()
            delay_ms = self.cluster.rng.randint(10, 200)
            self.cluster.scheduler.after(delay_ms, partial(self._start, node))

    def _start(self, node: SimulatedNode) -> None:
        if not node.is_up and self.cluster.nodes[node.local.key.id] is node:
            node.start()

    def _restart(self) -> None:
        node = self._find_node(is_up=False)
        if node:
            node.start()

    def _jump_clock(self) -> None:
        node = self._find_node()
        if node:
            node.jump_clock(self.cluster.rng.choice(_CLOCK_JUMPS_MS))

    def _snapshot(self) -> None:
        node = self._find_node()
        if node:
            node.write_snapshot()

    def _clean(self) -> None:
        node = self._find_node()
        if node:
            node.clean_log()

    def _resign(self) -> None:
        node = self._find_node()
        if node:
            node.do("resigns", lambda replica, now_ms: replica.resign(now_ms))

    def _shut_down(self) -> None:
        node = self._find_node()
        if node:
            node.shut_down()
            stop = partial(self._stop, node, node.incarnation)
            self.cluster.scheduler.after(self.cluster.rng.randint(50, 400), stop)

    def _stop(self, node: SimulatedNode, incarnation: int) -> None:
        if node.is_up and node.incarnation == incarnation:
            node.stop()

    def _change_voters(self) -> None:
        """An administrator adds or removes a voter, or removes the one that lost its disk."""
        leaders, rng = self.cluster.find_leaders(), self.cluster.rng
        if not leaders or leaders[0].replica is None:
            return
        voters = leaders[0].replica.voters
        node = rng.choice(list(self.cluster.nodes.values()))
        request: Request
        if self.lost is not None and self.lost in voters.keys:
            request = remove_request(self.lost)
        elif not voters.has_voter(node.local.key):
            request = add_request(node.local)
        elif len(voters.voters) > 2 or rng.random() < 0.3:
            request = remove_request(node.local.key)
        else:
            return
        self.cluster.network.send(ADMIN, leaders[0].name, Packet((0, 0), request))

    def _lose_disk(self) -> None:
        """A node comes back under a new directory id; only once, as a majority has to keep its."""
        node = self._find_node(is_up=False)
        sizes = [
            len(each.replica.voters.voters)
            for each in self.cluster.nodes.values()
            if each.replica is not None and each.applied.offset
        ]
        if node is None or self.lost is not None or min(sizes, default=0) < 4:
            return
        self.lost = node.local.key
        self.cluster.add_node(with_empty_disk(node, random_uuid(self.cluster.rng)))


def with_empty_disk(node: SimulatedNode, directory_id: Uuid) -> SimulatedNode:
    """The same node with another disk, which has another directory id."""
    local = replace(node.local, key=ReplicaKey(node.local.key.id, directory_id))
    return type(node)(
        local,
        node.config,
        node.scheduler,
        node.network,
        node.rng,
        node.after_event,
        is_over_wire=node.is_over_wire,
        sync_ms_max=node.sync_ms_max,
        incarnation=node.incarnation + 1,
    )


def add_request(local: LocalReplica) -> AddRaftVoterRequest:
    return AddRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        timeout_ms=200,
        voter_id=local.key.id,
        voter_directory_id=local.key.directory_id,
        listeners=[Listener(name=e.name, host=e.host, port=e.port) for e in local.endpoints],
    )


def remove_request(key: ReplicaKey) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(
        cluster_id=CLUSTER_ID, voter_id=key.id, voter_directory_id=key.directory_id
    )
