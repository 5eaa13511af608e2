"""The quorum holds its promises under every seed.

How many seeds is set by SNAKKA_SIMULATION_SEEDS, and the first one by SNAKKA_SIMULATION_SEED. A
failure says how to replay it.
"""

import os

import pytest

from tests.simulation.quorum_cluster import SIZES, QuorumCluster
from tests.simulation.quorum_run import Options, run_seed

FIRST_SEED = int(os.environ.get("SNAKKA_SIMULATION_SEED", "0"))
SEED_COUNT = int(os.environ.get("SNAKKA_SIMULATION_SEEDS", "1000"))
_RUN = 50  # seeds in a test, so that several processes can share them
_LONG = Options(faults_ms=10_000, fault_every_ms=30)


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + SEED_COUNT, _RUN))
def test_promises_hold(first: int) -> None:
    for seed in range(first, min(first + _RUN, FIRST_SEED + SEED_COUNT)):
        run_seed(seed)


def test_promises_hold_for_longer() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + SEED_COUNT // 50):
        run_seed(seed, _LONG)


def test_seeds_cover_all_sizes_and_both_ways_to_name_voters() -> None:
    clusters = [QuorumCluster(seed) for seed in range(30)]
    found = {(SIZES[cluster.seed % len(SIZES)], cluster.is_dynamic) for cluster in clusters}
    assert found == {(size, is_dynamic) for size in SIZES for is_dynamic in (False, True)}


def test_a_seed_replays_exactly() -> None:
    assert run_seed(7) == run_seed(7)
