"""What is told of a load: units, which way is better, and the goal that was set for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Figure:
    """`goals` says by which ratio Snakka is to stand to a peer: at least, or at most."""

    key: str
    unit: str
    more_is_better: bool = False
    goals: Mapping[str, float] = field(default_factory=dict)

    def meets(self, peer: str, ratio: float) -> bool:
        """Whether a ratio is as it should be; of a peer without a goal every one is."""
        goal = self.goals.get(peer)
        if goal is None:
            return True
        return ratio >= goal if self.more_is_better else ratio <= goal


_EVEN: Final = {"kafka": 1.0, "crabka": 1.0}

THROUGHPUT = Figure("mb_per_s", "MB/s", more_is_better=True, goals=_EVEN)
RECORDS = Figure("records_per_s", "records/s", more_is_better=True, goals=_EVEN)
TRANSACTIONS = Figure("records_per_s", "transactions/s", more_is_better=True, goals=_EVEN)
REQUESTS = Figure("requests_per_s", "requests/s", more_is_better=True, goals=_EVEN)
RAW_PRODUCE = Figure("mb_per_s", "MB/s", more_is_better=True, goals={**_EVEN, "raw": 0.6})
RAW_CONSUME = Figure("mb_per_s", "MB/s", more_is_better=True, goals={**_EVEN, "raw": 0.8})
CPU = Figure("cpu_s_per_million", "CPU s per million records", goals={"kafka": 1.0})
CPU_REQUEST = Figure("cpu_us_per_request", "CPU us a request", goals={"kafka": 1.0})
P50 = Figure("p50_ms", "p50, ms")
P99 = Figure("p99_ms", "p99, ms", goals=_EVEN)
P999 = Figure("p999_ms", "p99.9, ms")
START = Figure("seconds", "s", goals={"kafka": 0.2})
SECONDS = Figure("seconds", "s", goals=_EVEN)
CREATE = Figure("create_seconds", "s until all take records", goals=_EVEN)
RESTART = Figure("seconds", "s to restart", goals=_EVEN)
METADATA = Figure("metadata_ms", "ms to describe them", goals=_EVEN)
PRODUCE = Figure("produce_us", "CPU us to produce to one", goals={"kafka": 1.0})
FETCH = Figure("fetch_us", "CPU us to fetch from one", goals={"kafka": 1.0})
MEMORY = Figure("mib", "MiB resident", goals={"kafka": 0.1})
DISK = Figure("mib", "MiB on disk", goals={"kafka": 1.0})
