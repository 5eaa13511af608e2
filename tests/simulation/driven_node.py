"""One node of a simulated quorum, as it is in production: the driver, its log and its files.

The driver runs on a simulated loop and a simulated disk; requests travel as they do between
replicas alone (quorum_node.py). A crash ends loop and driver and leaves what the disk kept.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from snakka.client.errors import RequestTimedOutError
from snakka.metadata.image import Provenance
from snakka.node.election_file import read_election
from snakka.node.metadata_follower import Committed
from snakka.node.quorum_driver import QuorumDriver
from snakka.protocol.messages.api_versions import ApiVersionsRequest
from snakka.protocol.schema import Request, Response
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Outbound
from snakka.quorum.replica import NotLeaderError, QuorumReplica, Submitted
from tests.simulation.driven_disk import DIRECTORY, ELECTION_PATH, DrivenDisk, MirroredLog
from tests.simulation.event_loop import SimulatedLoop
from tests.simulation.quorum_node import Packet, SimulatedNode, Submit, api_versions
from tests.simulation.replicated_list import ReplicatedList


@dataclass(slots=True)
class DrivenNode(SimulatedNode):
    disk: DrivenDisk = field(init=False)
    driver: QuorumDriver | None = None
    log: MirroredLog = field(init=False)
    loop: SimulatedLoop = field(init=False)
    _asked: dict[int, "asyncio.Future[Response]"] = field(default_factory=dict)
    _correlation: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        super(DrivenNode, self).__post_init__()
        self.disk = DrivenDisk(self.rng, self.clock)

    # Life and death.

    def start(self) -> None:
        self.incarnation += 1
        self.applied = ReplicatedList()
        self.loop = SimulatedLoop(self.scheduler, self.rng, self._rested, self.sync_ms_max)
        self.network.attach(self.name, self._deliver)
        self.loop.run("starts", self._start)

    def _start(self) -> None:
        disk = self.disk
        self.log, snapshots = disk.open()
        election = read_election(disk.platter, ELECTION_PATH)
        quorum = Quorum(self.local, self.config, self.log, snapshots, self.rng, election)
        self.replica = QuorumReplica(quorum, self.clock.now_ms)
        self.driver = QuorumDriver(
            self.replica,
            self.log,
            snapshots,
            disk.platter,
            ELECTION_PATH,
            send=self._ask,
            now_ms=lambda: self.clock.now_ms,
            on_committed=self._on_committed,
            on_snapshot=self._on_snapshot,
            on_leadership=lambda epoch: None,
        )
        self.loop.create_task(self.driver.__aenter__())

    def stop(self) -> None:
        """The process ends before its shutdown has: what it had written was synced meanwhile."""
        self._stop()
        for inode in self.disk.platter.files(DIRECTORY):
            inode.sync()
        self.disk.platter.sync_directory(DIRECTORY)
        self.disk.snapshots.open()
        self.disk.refresh()
        self.after_event(self, "stops")

    def _stop(self) -> None:
        super(DrivenNode, self)._stop()
        self.driver = None
        self.loop.kill()
        self._asked.clear()

    def jump_clock(self, by_ms: int) -> None:
        """Timers are none of its business."""
        self.clock.jump(by_ms)

    def shut_down(self) -> None:
        driver = self.driver
        if driver is not None:
            leave = driver.__aexit__(None, None, None)
            self.loop.run("shuts down", lambda: self.loop.create_task(leave))

    # Events.

    def do(self, what: str, action: Callable[[QuorumReplica, int], object]) -> None:
        def event() -> None:
            assert self.replica is not None
            assert self.driver is not None
            action(self.replica, self.clock.now_ms)
            self.driver._after_event()  # there is no event of the driver's for this

        if self.driver is not None:
            self.loop.run(what, event)

    def submit(self, value: bytes, acknowledged_before: int) -> Submit | None:
        submit = Submit(value, acknowledged_before)
        if self.driver is not None:
            self.loop.run(f"submits {value.decode()}", partial(self._submit, submit))
        return submit if submit.where is not None else None

    def _submit(self, submit: Submit) -> None:
        assert self.driver is not None
        assert self.replica is not None
        offset = self.driver.end_offset
        submit.where = Submitted(offset, offset, self.replica.epoch)
        try:
            done = self.driver.submit([submit.value])
        except NotLeaderError:
            submit.where = None
            return

        def acknowledge(done: "asyncio.Future[None]") -> None:
            submit.is_acknowledged = done.exception() is None

        done.add_done_callback(acknowledge)

    def _deliver(self, source: str, packet: Packet) -> None:
        message = packet.message
        incarnation, correlation_id = packet.correlation
        what = f"gets {type(message).__name__} from {source}"
        if isinstance(message, Request):
            self.loop.run(what, partial(self._serve, source, packet.correlation, message))
        elif isinstance(message, Response) and incarnation == self.incarnation:
            asked = self._asked.get(correlation_id)
            if asked is not None and not asked.done():
                self.loop.run(what, partial(asked.set_result, message))

    def _serve(self, source: str, correlation: tuple[int, int], request: Request) -> None:
        if isinstance(request, ApiVersionsRequest):
            self._send(source, Packet(correlation, api_versions()))
        elif self.driver is not None:
            self.loop.create_task(self._answer(self.driver, source, correlation, request))

    async def _answer(
        self, driver: QuorumDriver, source: str, correlation: tuple[int, int], request: Request
    ) -> None:
        answer = await driver.answer(request, request.VERSIONS.last)
        self._send(source, Packet(correlation, answer))

    async def _ask(self, outbound: Outbound) -> Response:
        correlation_id = next(self._correlation)
        asked = self._asked[correlation_id] = self.loop.create_future()
        packet = Packet((self.incarnation, correlation_id), outbound.message)
        self._send(outbound.node.host, packet)
        try:
            async with asyncio.timeout(self.config.request_timeout_ms / 1000):
                response: Response = await asked
                return response
        except TimeoutError:
            raise RequestTimedOutError from None
        finally:
            self._asked.pop(correlation_id, None)

    # What the driver says.

    def _on_committed(self, committed: Committed) -> None:
        self.applied.values += committed.values
        self.applied.offset = committed.last.offset + 1

    def _on_snapshot(self, values: Iterator[bytes], last: Provenance) -> None:
        self.applied.values = list(values)
        self.applied.offset = last.offset + 1

    def _rested(self, what: str) -> None:
        self.disk.refresh()
        self.after_event(self, what)

    # Snapshots.

    def write_snapshot(self) -> None:
        """A snapshot of what is applied."""
        if self.driver is not None and self.applied.offset > self.disk.log.start_offset:
            snapshot_id = self.disk.log.state.cut_at(self.applied.offset)
            self.loop.run("writes a snapshot", partial(self.write_snapshot_at, snapshot_id))

    def clean_log(self) -> None:
        if self.driver is not None:
            self.loop.run("cleans", self._clean)

    def _clean(self) -> None:
        assert self.replica is not None
        files = self.disk.snapshots.files
        latest = files.latest()
        if latest is not None and latest.offset > self.log.start_offset:
            self.replica.advance_log_start(latest)
            files.remove_before(latest)
            self.log.delete_retired()
