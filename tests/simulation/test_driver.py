"""What the quorum promises holds for whole drivers, with their logs, files and tasks; and rules of
the driver that are broken on purpose are found out.

How many seeds is set as for replicas alone (test_quorum.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from snakka.node import quorum_driver
from snakka.node.metadata_log import MetadataLog
from snakka.node.quorum_driver import QuorumDriver
from snakka.node.snapshot_files import SnapshotFiles
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.ready import Flush
from tests.simulation.driven_node import DrivenNode
from tests.simulation.quorum_run import Options, SimulationError, run_seed
from tests.simulation.test_quorum import FIRST_SEED, SEED_COUNT

DRIVEN = Options(node=DrivenNode)
SEEDS_MAX = 300
_RUN = 50  # seeds in a test, so that several processes can share them
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + SEED_COUNT, _RUN))
def test_promises_hold(first: int) -> None:
    for seed in range(first, min(first + _RUN, FIRST_SEED + SEED_COUNT)):
        run_seed(seed, DRIVEN)


def test_a_seed_replays_exactly() -> None:
    assert run_seed(7, DRIVEN) == run_seed(7, DRIVEN)


def test_a_failure_says_how_to_replay_it(monkeypatch: Patch) -> None:
    acknowledges_at_once(monkeypatch)
    first = next(failures())
    seed = first.partition(":")[0]
    assert f"python -m tests.simulation.quorum_run --seed {seed} --trace --driver" in first


def reports_a_flush_that_is_none(patch: Patch) -> None:
    async def flush(self: QuorumDriver, flush: Flush) -> None:
        self._replica.flushed(flush, self._now_ms())
        self._after_event()

    patch.setattr(QuorumDriver, "_flush", flush)


def forgets_its_votes(patch: Patch) -> None:
    patch.setattr(quorum_driver, "write_election", lambda disk, path, election: None)


def acknowledges_at_once(patch: Patch) -> None:
    def finish(self: QuorumDriver) -> None:
        while self._submissions:
            self._submissions.popleft().done.set_result(None)

    patch.setattr(QuorumDriver, "_tell_leadership", finish)


def applies_what_is_not_committed(patch: Patch) -> None:
    apply = QuorumDriver._apply_committed

    def apply_all(self: QuorumDriver) -> None:
        committed, end = self._replica.high_watermark, self._log.end.offset
        self._replica.quorum.high_watermark = end
        apply(self)
        self._replica.quorum.high_watermark = committed

    patch.setattr(QuorumDriver, "_apply_committed", apply_all)


def drops_the_wrong_end(patch: Patch) -> None:
    truncate = MetadataLog.truncate
    patch.setattr(MetadataLog, "truncate", lambda self, end: truncate(self, max(0, end - 1)))


def trusts_a_snapshot_that_is_not_synced(patch: Patch) -> None:
    def seal(self: SnapshotFiles, snapshot_id: OffsetAndEpoch) -> None:
        self._disk.rename(self._part_path(snapshot_id), self._path(snapshot_id))

    patch.setattr(SnapshotFiles, "_seal", seal)


@dataclass(frozen=True)
class Mutant:
    break_rule: Callable[[Patch], None]
    caught_by: str  # part of what is said

    def __str__(self) -> str:
        return self.break_rule.__name__


MUTANTS = [
    Mutant(reports_a_flush_that_is_none, "not on a majority"),
    Mutant(forgets_its_votes, "epochs monotonic"),
    Mutant(acknowledges_at_once, "linearizable"),
    Mutant(applies_what_is_not_committed, "linearizable"),
    Mutant(drops_the_wrong_end, "the log ends at"),
    Mutant(trusts_a_snapshot_that_is_not_synced, "begin with a header"),
]


def failures() -> Iterator[str]:
    for seed in range(SEEDS_MAX):
        try:
            run_seed(seed, DRIVEN)
        except SimulationError as error:
            yield f"{seed}: {error}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_broken_rule_is_found_out(mutant: Mutant, monkeypatch: Patch) -> None:
    mutant.break_rule(monkeypatch)
    assert any(mutant.caught_by in failure for failure in failures()), "nobody noticed"
