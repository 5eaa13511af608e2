"""Transcripts of a quorum: commands, and under each what came of it. They are tests and examples.

A transcript is a file of lines. `> command` is what is done, `# text` explains, all other lines
are written by the machine. Only what a command says happens: no time passes by itself and no
message arrives undelivered. To write the machine's lines anew after a change:

    .venv/bin/python -m tests.quorum.transcript

Commands: `voters 1 2 3` (in the log, as `format` leaves them), `static voters 1 2 3`, `observer 4`,
`start 1`, `wait 1` (for what it does next of itself), `timeout 1` (until it takes another role),
`deliver`, `deliver 3` (messages), `cut 1` (from the others), `heal`,
`submit 1 a b`, `crash 1`, `snapshot 1`, `clean 1` (the log behind the snapshot), `add 4 to 1`,
`remove 3 from 1`, `shut down 1`, `logs`.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from snakka.protocol.schema import Request
from snakka.quorum.peers import Node
from snakka.quorum.quorum import LocalReplica
from snakka.quorum.voters import (
    NO_VOTERS,
    SUPPORTED_VERSIONS,
    ReplicaKey,
    Voter,
    VoterSet,
)
from tests.quorum.phrases import phrase, state
from tests.simulation.clock import Scheduler
from tests.simulation.network import SimulatedNetwork
from tests.simulation.quorum_cluster import (
    CLUSTER_ID,
    CONFIG,
    endpoint,
    format_disk,
    replica_key,
)
from tests.simulation.quorum_disk import LogState
from tests.simulation.quorum_faults import add_request, remove_request
from tests.simulation.quorum_invariants import QuorumInvariants
from tests.simulation.quorum_node import Packet, SimulatedNode

DIRECTORY = Path(__file__).parent.parent / "golden" / "quorum"
_TIMEOUTS_MAX = 50
_MESSAGES_MAX = 500


class HeldNetwork(SimulatedNetwork[Packet]):
    """Delivers only when told to, in the order of sending."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(scheduler, random.Random(0))
        self.held: list[tuple[str, str, Packet]] = []
        self.away: set[str] = set()

    def send(self, source: str, target: str, payload: Packet) -> None:
        self.held.append((source, target, payload))

    def pop(self) -> tuple[str, str, Packet] | None:
        return self.held.pop(0) if self.held else None

    def is_cut(self, source: str, target: str) -> bool:
        return source in self.away or target in self.away or not self.is_attached(target)


@dataclass
class Transcript:
    """A quorum that is told what to do, and the lines that came of it."""

    scheduler: Scheduler = field(default_factory=Scheduler)
    nodes: dict[str, SimulatedNode] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    voters: VoterSet = NO_VOTERS
    _states: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.network = HeldNetwork(self.scheduler)
        self.invariants = QuorumInvariants({})
        self.network.attach("admin", self._tell_admin)

    def run(self, command: str) -> None:
        """Does what the longest name that the command begins with stands for."""
        commands: dict[str, Callable[[list[str]], None]] = {
            "voters": self._add_voters,
            "static voters": self._add_static_voters,
            "observer": self._add_observer,
            "start": self._start,
            "wait": self._wait,
            "timeout": self._time_out,
            "deliver": self._deliver,
            "cut": self._cut,
            "heal": lambda words: self.network.away.clear(),
            "submit": self._submit,
            "crash": self._crash,
            "snapshot": lambda words: self.nodes["n" + words[0]].write_snapshot(),
            "clean": lambda words: self.nodes["n" + words[0]].clean_log(),
            "add": self._add_voter,
            "remove": self._remove_voter,
            "shut down": self._shut_down,
            "logs": self._show_logs,
        }
        name = next(name for name in commands if (command + " ").startswith(name + " "))
        commands[name](command[len(name) :].split())
        self._settle()

    # Building.

    def _add_voters(self, ids: list[str]) -> None:
        voters = [
            Voter(replica_key(int(each)), (endpoint(int(each)),), SUPPORTED_VERSIONS)
            for each in ids
        ]
        self.voters = VoterSet.of(voters)
        for each in ids:
            format_disk(self._add(int(each), NO_VOTERS).disk, self.voters)

    def _add_static_voters(self, ids: list[str]) -> None:
        voters = [Voter(ReplicaKey(int(each)), (endpoint(int(each)),)) for each in ids]
        self.voters = VoterSet.of(voters)
        for each in ids:
            self._add(int(each), self.voters)

    def _add_observer(self, ids: list[str]) -> None:
        is_static = all(voter.key == ReplicaKey(voter.key.id) for voter in self.voters.voters)
        self._add(int(ids[0]), self.voters if is_static else NO_VOTERS)

    def _add(self, node_id: int, static_voters: VoterSet) -> SimulatedNode:
        local = LocalReplica(
            CLUSTER_ID,
            replica_key(node_id),
            "CONTROLLER",
            (endpoint(node_id),),
            static_voters=static_voters,
            bootstrap_servers=(),
        )
        node = SimulatedNode(
            local,
            replace(CONFIG, fetch_max_bytes=250, fetch_snapshot_max_bytes=250),
            self.scheduler,
            self.network,
            random.Random(node_id),
            self._after_event,
            sync_ms_max=0,
        )
        self.nodes[node.name] = node
        self.invariants.nodes[node.local.key] = node
        return node

    # Doing.

    def _start(self, ids: list[str]) -> None:
        for each in ids:
            node = self.nodes["n" + each]
            if not node.local.static_voters.voters and not self._is_formatted(node):
                servers = [voter.key.id for voter in self.voters.voters]
                node.local = replace(node.local, bootstrap_servers=_servers(servers))
            node.start()

    def _is_formatted(self, node: SimulatedNode) -> bool:
        return node.disk.snapshots.latest() is not None

    def _time_out(self, ids: list[str]) -> None:
        """Lets its time pass until it takes another role."""
        node = self.nodes["n" + ids[0]]
        assert node.replica is not None
        role = node.replica.role
        for _ in range(_TIMEOUTS_MAX):
            self._wait(ids)
            if node.replica.role is not role:
                return
        raise AssertionError("it never does")

    def _wait(self, ids: list[str]) -> None:
        node = self.nodes["n" + ids[0]]
        assert node.replica is not None
        deadline_ms = node.replica.next_deadline_ms(node.clock.now_ms)
        assert deadline_ms is not None, "it waits for nothing"
        node.jump_clock(max(1, deadline_ms - node.clock.now_ms))

    def _deliver(self, words: list[str]) -> None:
        """All messages, or so many, that are not cut off; and what they lead to."""
        limit = int(words[0]) if words else _MESSAGES_MAX
        while limit:
            self._settle()
            held = self.network.pop()
            if held is None:
                return
            source, target, packet = held
            if self.network.is_cut(source, target):
                continue
            limit -= 1
            self.lines.append(f"  {source} -> {target}: {phrase(packet.message)}")
            self.network.deliver(source, target, packet)
        assert words, "they never stop talking"

    def _cut(self, ids: list[str]) -> None:
        self.network.away |= {"n" + each for each in ids}

    def _submit(self, words: list[str]) -> None:
        for value in words[1:]:
            self.nodes["n" + words[0]].submit(value.encode(), -1)

    def _crash(self, ids: list[str]) -> None:
        node = self.nodes["n" + ids[0]]
        node.crash()
        self.network.held = [h for h in self.network.held if node.name not in h[:2]]

    def _add_voter(self, words: list[str]) -> None:
        self._ask(words[2], add_request(self.nodes["n" + words[0]].local))

    def _remove_voter(self, words: list[str]) -> None:
        self._ask(words[2], remove_request(replica_key(int(words[0]))))

    def _ask(self, node_id: str, request: Request) -> None:
        self.network.send("admin", "n" + node_id, Packet((0, 0), request))

    def _shut_down(self, ids: list[str]) -> None:
        node = self.nodes["n" + ids[0]]
        node.do("shuts down", lambda replica, now_ms: replica.shut_down(now_ms))

    def _show_logs(self, words: list[str]) -> None:
        for name, node in self.nodes.items():
            self.lines.append(f"  {name}: {draw(node.disk.log.state)}")

    # Seeing.

    def _settle(self) -> None:
        while self.scheduler.is_due:
            self.scheduler.step(self.scheduler.now_ms + 1)

    def _tell_admin(self, source: str, packet: Packet) -> None:
        pass

    def _after_event(self, node: SimulatedNode, what: str) -> None:
        now = state(node)
        if self._states.get(node.name) != now:
            self._states[node.name] = now
            self.lines.append(f"    {node.name} is {now}")
        self.invariants.check(node)


def _servers(ids: list[int]) -> tuple[Node, ...]:
    return tuple(Node(-1 - each, f"n{each}", 9093) for each in ids)


def draw(log: LogState) -> str:
    """A log as the epochs of its batches: `0 1 1 2`, after `...5@1` if it starts at a snapshot."""
    start = [f"...{log.start}"] if log.start.offset else []
    epochs = [[str(b.epoch)] * (b.next_offset - b.base_offset) for b in log.batches]
    return " ".join([*start, *chain.from_iterable(epochs)]) or "empty"


def replay(text: str) -> str:
    """The transcript with the machine's lines as they come now."""
    transcript = Transcript()
    for line in text.splitlines():
        if line.startswith("#") or not line:
            transcript.lines.append(line)
        elif line.startswith("> "):
            transcript.lines.append(line)
            transcript.run(line[2:])
    return "\n".join(transcript.lines) + "\n"


def main() -> None:
    for path in sorted(DIRECTORY.glob("*.txt")):
        path.write_text(replay(path.read_text()))
        print(path)


if __name__ == "__main__":
    main()
