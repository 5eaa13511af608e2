"""How long to wait before trying again: exponential, with jitter, bounded (KIP-580)."""

from dataclasses import dataclass
from random import Random
from typing import Final

_JITTER: Final = 0.2
_DOUBLINGS_MAX: Final = 32


@dataclass(frozen=True, slots=True)
class Backoff:
    """Doubles from `initial_ms` to `max_ms`, give or take a fifth."""

    initial_ms: int
    max_ms: int

    def delay_ms(self, failures: int, rng: Random) -> float:
        """The wait after `failures` in a row; none before the first."""
        if failures == 0:
            return 0
        delay_ms = self.initial_ms << min(failures - 1, _DOUBLINGS_MAX)
        return min(delay_ms, self.max_ms) * rng.uniform(1 - _JITTER, 1 + _JITTER)
