"""One node of a simulated quorum: the driver around a `QuorumReplica`.

It does what a `Ready` says, with a disk that takes its time to sync, applies what is committed to
a list of values, writes snapshots of that list, and acknowledges submits when they are committed.
A crash takes the replica and the list; what is on the disk starts the next one.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from snakka.protocol.codec import decode, encode
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from snakka.protocol.schema import Message, Request, Response
from snakka.quorum.config import QuorumConfig
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.ready import Flush, Inbound
from snakka.quorum.replica import NotLeaderError, QuorumReplica, Submitted
from tests.simulation.clock import NodeClock, Scheduler
from tests.simulation.network import SimulatedNetwork
from tests.simulation.quorum_disk import QuorumDisk
from tests.simulation.replicated_list import ReplicatedList


class Packet(NamedTuple):
    """What the network carries: a request, or with a response what it answers."""

    correlation: tuple[int, int]  # the sender's incarnation and its correlation id
    message: Message | None  # None: the host refuses the connection


class Token(NamedTuple):
    """Whom to answer."""

    source: str
    correlation: tuple[int, int]


@dataclass(slots=True)
class Submit:
    """A client's write: what came of it, if the client was told."""

    value: bytes
    acknowledged_before: int  # the highest offset that was acknowledged when it began
    where: Submitted | None = None
    is_acknowledged: bool = False


@dataclass(slots=True)
class SimulatedNode:
    local: LocalReplica
    config: QuorumConfig
    scheduler: Scheduler
    network: SimulatedNetwork[Packet]
    rng: random.Random
    after_event: Callable[["SimulatedNode", str], None]
    disk: QuorumDisk = field(default_factory=QuorumDisk)
    is_over_wire: bool = False
    sync_ms_max: int = 3
    replica: QuorumReplica | None = None
    incarnation: int = 0
    applied: ReplicatedList = field(default_factory=ReplicatedList)
    waiting: list[Submit] = field(default_factory=list)
    clock: NodeClock = field(init=False)
    _tick_at_ms: int | None = None

    def __post_init__(self) -> None:
        self.clock = NodeClock(self.scheduler)

    @property
    def name(self) -> str:
        return f"n{self.local.key.id}"

    @property
    def is_up(self) -> bool:
        return self.replica is not None

    # Life and death.

    def start(self) -> None:
        self.incarnation += 1
        self.applied = ReplicatedList()
        self.network.attach(self.name, self._deliver)
        quorum = self._load()
        self.replica = QuorumReplica(quorum, self.clock.now_ms)
        self._settle("starts")

    def _load(self) -> Quorum:
        disk = self.disk
        return Quorum(self.local, self.config, disk.log, disk.snapshots, self.rng, disk.election)

    def crash(self) -> None:
        self._stop()
        self.disk.crash(self.rng)
        self.after_event(self, "crashes")

    def stop(self) -> None:
        """The end of a clean shutdown: everything is synced first."""
        self._stop()
        self.disk.log.sync(len(self.disk.log.unsynced))
        self.after_event(self, "stops")

    def _stop(self) -> None:
        self.replica = None
        self.waiting.clear()
        self._tick_at_ms = None
        self.network.detach(self.name)

    def jump_clock(self, by_ms: int) -> None:
        self.clock.jump(by_ms)
        self._tick_at_ms = None
        self.do(f"clock jumps by {by_ms} ms", self._tick_replica)

    def shut_down(self) -> None:
        self.do("shuts down", lambda replica, now_ms: replica.shut_down(now_ms))

    # Events.

    def do(self, what: str, action: Callable[[QuorumReplica, int], object]) -> None:
        """Something happens to the replica, if it is up."""
        if self.replica is not None:
            action(self.replica, self.clock.now_ms)
            self._settle(what)

    def _tick_replica(self, replica: QuorumReplica, now_ms: int) -> None:
        replica.tick(now_ms)
        deadline_ms = replica.next_deadline_ms(now_ms)
        assert deadline_ms is None or deadline_ms > now_ms, "it wants to tick on, for ever"

    def submit(self, value: bytes, acknowledged_before: int) -> Submit | None:
        submit = Submit(value, acknowledged_before)

        def append(replica: QuorumReplica, now_ms: int) -> None:
            submit.where = replica.submit([value], now_ms)
            self.waiting.append(submit)

        try:
            self.do(f"submits {value.decode()}", append)
        except NotLeaderError:
            return None
        return submit if submit.where is not None else None

    def _deliver(self, source: str, packet: Packet) -> None:
        message = packet.message
        incarnation, correlation_id = packet.correlation
        if isinstance(message, Request):
            if isinstance(message, ApiVersionsRequest):
                self._send(source, Packet(packet.correlation, api_versions()))
                return
            inbound = Inbound(Token(source, packet.correlation), message.VERSIONS.last, message)
            self.do(
                f"gets {type(message).__name__} from {source}",
                lambda replica, now_ms: replica.receive(inbound, now_ms),
            )
        elif incarnation != self.incarnation:
            return
        elif isinstance(message, Response):
            self.do(
                f"gets {type(message).__name__} from {source}",
                lambda replica, now_ms: replica.respond(correlation_id, message, now_ms),
            )
        else:
            self.do(
                f"cannot reach {source}",
                lambda replica, now_ms: replica.fail(
                    correlation_id, ErrorCode.BROKER_NOT_AVAILABLE, now_ms
                ),
            )

    # What a Ready says.

    def _settle(self, what: str) -> None:
        replica = self.replica
        assert replica is not None
        ready = replica.take_ready()
        if ready.election is not None:
            self.write_election(ready.election)
        for request in ready.requests:
            packet = Packet((self.incarnation, request.correlation_id), request.message)
            self._send(request.node.host, packet)
        for reply in ready.replies:
            assert isinstance(reply.token, Token)
            packet = Packet(reply.token.correlation, reply.message)
            self._send(reply.token.source, packet)
        if ready.flush is not None:
            self._plan_flush(ready.flush)
        self.applied.apply(self.disk, replica.high_watermark or 0)
        self._acknowledge(replica)
        self._plan_tick(replica)
        self.after_event(self, what)

    def write_election(self, election: ElectionState) -> None:
        self.disk.election = election

    def _send(self, target: str, packet: Packet) -> None:
        if self.is_over_wire and packet.message is not None:
            packet = packet._replace(message=_over_wire(packet.message))
        self.network.send(self.name, target, packet)

    def _plan_flush(self, flush: Flush) -> None:
        incarnation = self.incarnation
        change_count = len(self.disk.log.unsynced)

        def sync() -> None:
            if self.incarnation == incarnation and self.replica is not None:
                self.disk.log.sync(change_count)
                self.do("is synced", lambda replica, now_ms: replica.flushed(flush, now_ms))

        self.scheduler.after(self.rng.randint(0, self.sync_ms_max), sync)

    def _plan_tick(self, replica: QuorumReplica) -> None:
        deadline_ms = replica.next_deadline_ms(self.clock.now_ms)
        if deadline_ms is None:
            return
        at_ms = max(self.clock.to_simulated_ms(deadline_ms), self.scheduler.now_ms + 1)
        if self._tick_at_ms is not None and self._tick_at_ms <= at_ms:
            return
        self._tick_at_ms = at_ms
        self.scheduler.at(at_ms, lambda: self._tick(at_ms))

    def _tick(self, at_ms: int) -> None:
        if self._tick_at_ms == at_ms:
            self._tick_at_ms = None
            self.do("ticks", self._tick_replica)

    # Snapshots and acknowledgements.

    def write_snapshot(self) -> None:
        """A snapshot of what is applied."""
        if self.replica is None or self.applied.offset <= self.disk.log.start_offset:
            return
        self.write_snapshot_at(self.disk.log.state.cut_at(self.applied.offset))

    def write_snapshot_at(self, snapshot_id: OffsetAndEpoch) -> None:
        assert self.replica is not None
        self.replica.check_snapshot(snapshot_id)
        history, now_ms = self.replica.quorum.history, self.clock.now_ms
        data = self.applied.snapshot(history, snapshot_id.offset, now_ms)
        self.disk.snapshots.write(snapshot_id, 0, data)
        self.disk.snapshots.complete(snapshot_id)
        self.after_event(self, f"writes snapshot {snapshot_id}")

    def clean_log(self) -> None:
        latest = self.disk.snapshots.latest()
        if latest is not None and latest.offset > self.disk.log.start_offset:
            self.do("cleans", lambda replica, now_ms: replica.advance_log_start(latest))

    def _acknowledge(self, replica: QuorumReplica) -> None:
        still_waiting = []
        for submit in self.waiting:
            where = submit.where
            assert where is not None
            if not replica.is_leader or replica.epoch != where.epoch:
                continue  # lost or not, nobody here can tell
            if self.is_acknowledgeable(replica, where):
                submit.is_acknowledged = True
            else:
                still_waiting.append(submit)
        self.waiting = still_waiting

    def is_acknowledgeable(self, replica: QuorumReplica, where: Submitted) -> bool:
        return replica.high_watermark is not None and where.last_offset < replica.high_watermark


def _over_wire(message: Message) -> Message:
    version = message.VERSIONS.last
    return decode(type(message), version, bytes(encode(message, version)))


def api_versions() -> ApiVersionsResponse:
    feature = SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)
    return ApiVersionsResponse(error_code=0, api_keys=[], supported_features=[feature])
