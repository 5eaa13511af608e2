"""One replica with a disk in memory, and what it says: for tests of single decisions."""

import random
from dataclasses import dataclass, field

from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.protocol.schema import Request, Response
from snakka.quorum.config import QuorumConfig
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.ready import Inbound, Outbound, Ready
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.role import Role
from snakka.quorum.voters import NO_VOTERS, SUPPORTED_VERSIONS, Voter, VoterSet
from tests.simulation.quorum_cluster import CLUSTER_ID, endpoint, format_disk, replica_key
from tests.simulation.quorum_disk import QuorumDisk

LATEST = 99  # a version that has every field


@dataclass
class Lone:
    """A replica that is told everything, and whose messages go nowhere."""

    replica: QuorumReplica
    disk: QuorumDisk
    now_ms: int = 0
    sent: list[Outbound] = field(default_factory=list)
    replies: list[Response] = field(default_factory=list)

    @property
    def quorum(self) -> Quorum:
        return self.replica.quorum

    def role(self) -> type[Role]:
        return type(self.quorum.role)

    def settle(self) -> Ready:
        """Does what the replica says, with a disk that syncs at once."""
        ready = self.replica.take_ready()
        self.sent += ready.requests
        self.replies += [reply.message for reply in ready.replies]
        if ready.election is not None:
            self.disk.election = ready.election
        if ready.flush is not None:
            self.disk.log.sync(len(self.disk.log.unsynced))
            self.replica.flushed(ready.flush, self.now_ms)
            self.settle()
        return ready

    def ask(self, request: Request, version: int = LATEST) -> Response | None:
        """What the replica answers, unless it waits."""
        self.replies.clear()
        self.replica.receive(Inbound("token", version, request), self.now_ms)
        self.settle()
        return self.replies[-1] if self.replies else None

    def answer(self, response: Response) -> None:
        """Answers the last request of the replica."""
        self.replica.respond(self.sent[-1].correlation_id, response, self.now_ms)
        self.settle()

    def write_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        self.disk.snapshots.write(snapshot_id, 0, b"a snapshot")
        self.disk.snapshots.complete(snapshot_id)

    def wait(self, until_ms: int) -> None:
        self.now_ms = until_ms
        self.replica.tick(until_ms)
        self.settle()


def voter(node_id: int) -> Voter:
    return Voter(replica_key(node_id), (endpoint(node_id),), SUPPORTED_VERSIONS)


def voter_set(*ids: int) -> VoterSet:
    return VoterSet.of(voter(each) for each in ids)


def build(
    node_id: int,
    voters: VoterSet = NO_VOTERS,
    *,
    static_voters: VoterSet = NO_VOTERS,
    disk: QuorumDisk | None = None,
    election: ElectionState | None = None,
    config: QuorumConfig | None = None,
) -> Lone:
    """A replica of `voters` in its log, or of configured ones, that has just started."""
    disk = disk or QuorumDisk()
    if voters.voters and disk.snapshots.latest() is None:
        format_disk(disk, voters)
    disk.election = election or disk.election
    local = LocalReplica(
        CLUSTER_ID,
        replica_key(node_id),
        "CONTROLLER",
        (endpoint(node_id),),
        static_voters=static_voters,
    )
    config, rng = config or QuorumConfig(), random.Random(node_id)
    quorum = Quorum(local, config, disk.log, disk.snapshots, rng, disk.election)
    lone = Lone(QuorumReplica(quorum, 0), disk)
    lone.settle()
    return lone


def data_batch(offset: int, epoch: int, *values: bytes) -> bytes:
    records = [Record(offset + index, 0, None, value) for index, value in enumerate(values)]
    return build_batch(records, leader_epoch=epoch)
