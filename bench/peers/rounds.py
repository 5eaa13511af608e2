"""The run: row by row, in rounds in which the peers take turns.

All brokers run from the beginning to the end, so that a JVM is warm. What disturbs the machine then
hits all of them alike, and ratios are taken within a round. A peer that fails is told of, and the
others go on.
"""

import shutil
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CalledProcessError
from typing import Final

from confluent_kafka import KafkaException

from bench.peers.loads import Rdkafka
from bench.peers.peer import NotInstallableError, Peer
from bench.peers.programs import Figures, LoadError
from bench.peers.rows import Row
from bench.peers.running import BrokerDiedError, Running
from bench.peers.topics import wait_until_serving

WARM_UP: Final = Rdkafka("produce", 1024, 300_000)
FAILURES: Final = (LoadError, BrokerDiedError, KafkaException, OSError, CalledProcessError)


@dataclass(slots=True)
class Measured:
    """What came of one row: of each peer the figures round by round, or why there are none."""

    title: str
    rounds: dict[str, list[Figures]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def median(self, peer: str, key: str) -> float | None:
        values = [each[key] for each in self.rounds.get(peer, []) if key in each]
        return statistics.median(values) if values else None

    def ratios(self, ours: str, peer: str, key: str) -> list[float]:
        """Ours divided by the peer's, within each round that both got through."""
        pairs = zip(self.rounds.get(ours, []), self.rounds.get(peer, []), strict=False)
        return [a[key] / b[key] for a, b in pairs if a.get(key) and b.get(key)]


class Contest:
    """The brokers of a run. A context manager: they and their data go at the end."""

    def __init__(self, peers: Sequence[Peer], directory: Path) -> None:
        self._peers = peers
        self._directory = directory
        self._brokers: dict[str, Running] = {}
        self.taking_part: dict[str, dict[str, str]] = {}
        self.missing: dict[str, str] = {}

    def __enter__(self) -> "Contest":
        with ExitStack() as undo:
            undo.callback(self.__exit__)
            for peer in self._peers:
                self._take_in(peer)
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self._brokers.values():
            _remove(broker)

    def measure(self, row: Row, rounds: int, scale: float) -> Measured:
        measured = Measured(row.title)
        turns = [each for each in self._brokers.values() if row.takes(each.peer)]
        for _ in range(rounds):
            for broker in turns:
                self._take_turn(row, broker, scale, measured)
            turns.append(turns.pop(0))
        return measured

    def _take_turn(self, row: Row, broker: Running, scale: float, measured: Measured) -> None:
        name = broker.peer.name
        if name in measured.failures:
            return
        try:
            measured.rounds.setdefault(name, []).append(row.load.run(broker, scale))
        except FAILURES as error:
            measured.failures[name] = f"{type(error).__name__}: {error}"
            self._renew(broker)

    def _renew(self, broker: Running) -> None:
        """On fresh data: what a failed load left behind is nobody's."""
        try:
            broker.renew()
            _warm_up(broker)
        except FAILURES as error:
            self.missing[broker.peer.name] = f"it did not come back: {error}"
            _remove(self._brokers.pop(broker.peer.name))

    def _take_in(self, peer: Peer) -> None:
        try:
            version = peer.install()
            self._brokers[peer.name] = broker = Running(peer, self._directory / peer.name)
            broker.start()
            _warm_up(broker)
        except (NotInstallableError, *FAILURES) as error:
            self.missing[peer.name] = str(error)
            if peer.name in self._brokers:
                _remove(self._brokers.pop(peer.name))
            return
        self.taking_part[peer.name] = {"version": version, "settings": peer.settings}


def _warm_up(broker: Running) -> None:
    """A JVM is faster once it has compiled what it does most."""
    if broker.peer.is_broker:
        wait_until_serving(broker)
        WARM_UP.run(broker, scale=1)


def _remove(broker: Running) -> None:
    broker.kill()
    shutil.rmtree(broker.directory)
