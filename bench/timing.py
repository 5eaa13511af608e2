"""Times calls against each other on a machine that others use too.

The contenders take turns, so that what slows the machine down slows all of them; of each the
fastest round counts, which is the one that was disturbed least. The garbage collector runs as it
does in a broker, but does not look at what was there before.
"""

import gc
import math
from collections.abc import Callable, Iterable, Mapping
from timeit import Timer
from typing import Final

BATCH_S: Final = 0.002  # what one contender runs for before it is the next one's turn


def time_in_turns(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The seconds that each of `calls` takes."""
    timers = {name: Timer(call, "gc.enable()", globals={"gc": gc}) for name, call in calls.items()}
    loops = {name: _loops(timer) for name, timer in timers.items()}
    fastest = dict.fromkeys(timers, math.inf)
    names = list(timers)
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name in names:
            seconds = timers[name].timeit(loops[name]) / loops[name]
            fastest[name] = min(fastest[name], seconds)
        names.append(names.pop(0))
    gc.unfreeze()
    return fastest


def _loops(timer: Timer) -> int:
    """How many calls fill a batch."""
    loops = 1
    while (seconds := timer.timeit(loops)) < BATCH_S / 4:
        loops *= 2
    return max(1, round(loops * BATCH_S / seconds))


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))
