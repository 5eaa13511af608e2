"""Under every seed, a transaction ends in one way everywhere, and as its producer was told.

TRANSACTION_SEEDS sets how many seeds. A failure names the one to be replayed.
"""

import os

import pytest

from tests.coordinators.transactions.world import World

SEEDS = int(os.environ.get("TRANSACTION_SEEDS", "300"))
STEPS = 250


@pytest.mark.parametrize("first", range(0, SEEDS, 100))
def test_transactions_are_atomic(first: int) -> None:
    # pitfalls 2 and 14
    for seed in range(first, min(first + 100, SEEDS)):
        world = World(seed)
        try:
            for _ in range(STEPS):
                world.step()
            world.finish()
            world.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


def test_seeds_see_commits_aborts_and_both_versions() -> None:
    worlds = [World(seed) for seed in range(40)]
    for world in worlds:
        for _ in range(STEPS):
            world.step()
        world.finish()
    outcomes = [attempt.outcomes for world in worlds for attempt in world.attempts]
    assert sum(each == {True} for each in outcomes) > 50
    assert sum(each == {False} for each in outcomes) > 50
    assert {world.version for world in worlds} == {1, 2}
    assert sum(world.coordinator_epoch for world in worlds) > 50
