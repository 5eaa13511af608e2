"""A quorum of simulated nodes, built from one seed, whose invariants are checked after each event.

The seed decides how many voters there are (1, 3 or 5) besides observers, whether they are
configured or in the log, and how bad network and disks are.

Not here: what goes wrong (quorum_faults.py), a whole run (quorum_run.py), what is checked
(quorum_invariants.py), the driver of a replica (quorum_node.py).
"""

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Final

from snakka.protocol.internal.kraft import SnapshotHeaderRecord, VotersRecord
from snakka.protocol.types import random_uuid
from snakka.quorum.config import QuorumConfig
from snakka.quorum.control_records import (
    control_batch,
    kraft_version_record,
    read_control_records,
    voters_record,
)
from snakka.quorum.peers import Node
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT
from snakka.quorum.quorum import LocalReplica
from snakka.quorum.voters import (
    NO_VOTERS,
    SUPPORTED_VERSIONS,
    Endpoint,
    ReplicaKey,
    Voter,
    VoterSet,
)
from tests.simulation.clock import Scheduler
from tests.simulation.network import SimulatedNetwork, Weather
from tests.simulation.quorum_disk import QuorumDisk
from tests.simulation.quorum_invariants import QuorumInvariants
from tests.simulation.quorum_node import Packet, SimulatedNode, Submit

SIZES: Final = (1, 3, 5)
CLUSTER_ID: Final = "cluster"
ADMIN: Final = "admin"
_LISTENER = "CONTROLLER"
_PORT = 9093
_DYNAMIC_CHANCE = 0.6
_OVER_WIRE_EVERY = 10

# Kafka's defaults are ten times as long; so much more happens in a second.
CONFIG: Final = QuorumConfig(
    election_timeout_ms=150,
    fetch_timeout_ms=300,
    election_backoff_max_ms=150,
    request_timeout_ms=250,
    retry_backoff_ms=15,
    fetch_max_wait_ms=120,
    fetch_max_bytes=400,
    fetch_snapshot_max_bytes=400,
    voter_lag_ms_max=1_000,
)


@dataclass(slots=True)
class QuorumCluster:
    seed: int
    node_class: type[SimulatedNode] = SimulatedNode
    is_traced: bool = False
    rng: random.Random = field(init=False)
    scheduler: Scheduler = field(default_factory=Scheduler)
    network: SimulatedNetwork[Packet] = field(init=False)
    nodes: dict[int, SimulatedNode] = field(default_factory=dict)
    invariants: QuorumInvariants = field(init=False)
    is_dynamic: bool = False
    submits: list[Submit] = field(default_factory=list)
    events: int = 0
    _outstanding: list[Submit] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self.rng = random.Random(self.seed)
        self.network = SimulatedNetwork(self.scheduler, rng, random_weather(rng))
        self.network.attach(ADMIN, lambda source, packet: None)
        self.invariants = QuorumInvariants({})
        self.is_dynamic = rng.random() < _DYNAMIC_CHANCE
        size = SIZES[self.seed % len(SIZES)]
        voters = VoterSet.of(self._voter(node_id) for node_id in range(1, size + 1))
        for node_id in range(1, size + rng.randint(0, 2) + 1):
            self.add_node(self._build(node_id, voters))

    def _voter(self, node_id: int) -> Voter:
        if self.is_dynamic:
            return Voter(replica_key(node_id), (endpoint(node_id),), SUPPORTED_VERSIONS)
        return Voter(ReplicaKey(node_id), (endpoint(node_id),))

    def _build(self, node_id: int, voters: VoterSet) -> SimulatedNode:
        local = LocalReplica(
            CLUSTER_ID,
            replica_key(node_id),
            _LISTENER,
            (endpoint(node_id),),
            bootstrap_servers=tuple(Node(-1 - each, f"n{each}", _PORT) for each in voters.ids),
            static_voters=NO_VOTERS if self.is_dynamic else voters,
        )
        node = self.node_class(
            local,
            replace(CONFIG, auto_join_enable=self.is_dynamic and self.rng.random() < 0.5),
            self.scheduler,
            self.network,
            self.rng,
            self.after_event,
            is_over_wire=self.seed % _OVER_WIRE_EVERY == 0,
            sync_ms_max=self.rng.choice((0, 3, 30)),
        )
        if self.is_dynamic and node_id in voters.ids:
            format_disk(node.disk, voters)
        return node

    def add_node(self, node: SimulatedNode) -> None:
        """Takes the place of the node of its id, whose disk stays known for what it confirmed."""
        self.nodes[node.local.key.id] = node
        self.invariants.nodes[node.local.key] = node

    def find_leaders(self) -> list[SimulatedNode]:
        """Those that think they lead, of which one at the most is right."""
        return [n for n in self.nodes.values() if n.replica is not None and n.replica.is_leader]

    def after_event(self, node: SimulatedNode, what: str) -> None:
        self.events += 1
        if self.is_traced:
            print(f"{self.scheduler.now_ms:6} {describe(node)}: {what}")
        self.invariants.check(node)
        for submit in [each for each in self._outstanding if each.is_acknowledged]:
            self._outstanding.remove(submit)
            self.invariants.acknowledge(submit)

    def submit(self) -> Submit | None:
        """A client writes to one that thinks it leads."""
        leaders = self.find_leaders()
        if not leaders:
            return None
        value = f"v{len(self.submits)}".encode()
        submit = self.rng.choice(leaders).submit(value, self.invariants.acknowledged_end)
        if submit is not None:
            self.submits.append(submit)
            if submit.is_acknowledged:
                self.invariants.acknowledge(submit)
            else:
                self._outstanding.append(submit)
        return submit

    def run_until(self, time_ms: int) -> None:
        while self.scheduler.step(time_ms):
            pass

    @property
    def counts(self) -> Counter[str]:
        """What a run was made of: how much its promises were worth."""
        disks = [node.disk for node in self.invariants.nodes.values()]
        return Counter(
            events=self.events,
            leaders=len(self.invariants.leaders),
            crashes=sum(disk.crashes for disk in disks),
            truncations=sum(disk.log.truncations for disk in disks),
            snapshots_installed=sum(disk.log.restarts for disk in disks),
            voter_sets_committed=sum(
                isinstance(record.message, VotersRecord)
                for entry in self.invariants.committed
                for record in read_control_records(entry.batch.data)
            ),
            submits=len(self.submits),
            acknowledged=len(self.invariants.acknowledged),
        )


def random_weather(rng: random.Random) -> Weather:
    return Weather(
        delay_ms_max=rng.choice((3, 8, 25)),
        loss=rng.choice((0, 0, 0.02, 0.1)),
        duplication=rng.choice((0, 0, 0.05)),
        stall=rng.choice((0, 0, 0.02)),
    )


def replica_key(node_id: int) -> ReplicaKey:
    return ReplicaKey(node_id, random_uuid(random.Random(node_id)))


def endpoint(node_id: int) -> Endpoint:
    return Endpoint(_LISTENER, f"n{node_id}", _PORT)


def format_disk(disk: QuorumDisk, voters: VoterSet) -> None:
    """What `format` leaves on a controller's disk: a checkpoint with version and voters."""
    messages = [
        SnapshotHeaderRecord(version=0, last_contained_log_timestamp=0),
        kraft_version_record(1),
        voters_record(voters),
    ]
    data = control_batch(messages, base_offset=0, epoch=0, timestamp_ms=0)
    disk.snapshots.write(BOOTSTRAP_SNAPSHOT, 0, data)
    disk.snapshots.complete(BOOTSTRAP_SNAPSHOT)


def describe(node: SimulatedNode) -> str:
    """A node in one line."""
    if node.replica is None:
        return f"{node.name} down, log to {node.disk.log.end}"
    quorum = node.replica.quorum
    return (
        f"{node.name} {type(quorum.role).__name__} in {quorum.epoch}, log to {quorum.log.end}, "
        f"committed to {quorum.high_watermark}, voters {','.join(map(str, quorum.voters.ids))}"
    )
