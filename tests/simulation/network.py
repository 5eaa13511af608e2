"""A network in memory that delays, reorders, loses and duplicates, and is cut one way or both.

It carries any payload between names. Each message takes a random time of its own, so that later
ones overtake earlier ones. Everything random comes from the `random.Random` given.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tests.simulation.clock import Scheduler

P = TypeVar("P")


@dataclass(slots=True)
class Weather:
    """How bad the network is, for all links."""

    delay_ms_min: int = 1
    delay_ms_max: int = 8
    loss: float = 0.0
    duplication: float = 0.0
    stall: float = 0.0  # the chance that a message takes `stall_ms` on top
    stall_ms: int = 300


@dataclass(slots=True)
class SimulatedNetwork(Generic[P]):
    scheduler: Scheduler
    rng: random.Random
    weather: Weather = field(default_factory=Weather)
    _receivers: dict[str, Callable[[str, P], None]] = field(default_factory=dict)
    _cut: set[tuple[str, str]] = field(default_factory=set)

    def attach(self, name: str, receive: Callable[[str, P], None]) -> None:
        """From now on `receive(sender, payload)` gets what is sent to `name`."""
        self._receivers[name] = receive

    def detach(self, name: str) -> None:
        """What arrives from now on is lost: the host is down."""
        self._receivers.pop(name, None)

    def is_attached(self, name: str) -> bool:
        return name in self._receivers

    def send(self, source: str, target: str, payload: P) -> None:
        weather, rng = self.weather, self.rng
        if rng.random() < weather.loss:
            return
        for _ in range(2 if rng.random() < weather.duplication else 1):
            delay_ms = rng.randint(weather.delay_ms_min, weather.delay_ms_max)
            if rng.random() < weather.stall:
                delay_ms += rng.randrange(weather.stall_ms)
            self.scheduler.after(delay_ms, lambda: self.deliver(source, target, payload))

    def deliver(self, source: str, target: str, payload: P) -> None:
        receive = self._receivers.get(target)
        if receive is not None and (source, target) not in self._cut:
            receive(source, payload)

    def cut(self, source: str, target: str) -> None:
        """Nothing from `source` arrives at `target` any more; the other direction is as it was."""
        self._cut.add((source, target))

    def isolate(self, name: str, *, inbound: bool = True, outbound: bool = True) -> None:
        for other in self._receivers:
            if other != name and inbound:
                self.cut(other, name)
            if other != name and outbound:
                self.cut(name, other)

    def heal(self) -> None:
        self._cut.clear()
