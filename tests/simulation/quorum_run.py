"""A run of a simulated quorum from one seed: faults for some seconds, then repair.

    .venv/bin/python -m tests.simulation.quorum_run --seed 17 --trace

With `--driver` the nodes are those of production, with driver, log and files, else replicas alone.
The same seed is the same run, event by event. After the repair the quorum has to elect, commit and
bring all its voters up to date within a time; then all must have applied the same.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation.driven_node import DrivenNode
from tests.simulation.network import Weather
from tests.simulation.quorum_cluster import QuorumCluster, describe
from tests.simulation.quorum_faults import QuorumFaults
from tests.simulation.quorum_node import SimulatedNode, Submit

_LOOK_EVERY_MS = 100


class SimulationError(AssertionError):
    """Something does not hold, and this is how to see it again."""


@dataclass(frozen=True, slots=True)
class Options:
    """How long and how wild a run is."""

    faults_ms: int = 3_000
    repair_ms: int = 6_000
    fault_every_ms: int = 50
    submit_every_ms: int = 25
    voter_changes: int = 5  # how often, among the faults
    is_traced: bool = False
    node: type[SimulatedNode] = SimulatedNode


DEFAULTS = Options()


def run_seed(seed: int, options: Options = DEFAULTS) -> Counter[str]:
    """What the run was made of. Raises SimulationError if anything does not hold."""
    cluster = QuorumCluster(seed, options.node, is_traced=options.is_traced)
    try:
        _run(cluster, options)
    except Exception as error:
        driver = " --driver" if issubclass(options.node, DrivenNode) else ""
        raise SimulationError(
            f"{type(error).__name__}: {error}\n"
            f"at {cluster.scheduler.now_ms} ms, event {cluster.events}; replay with\n"
            f"    .venv/bin/python -m tests.simulation.quorum_run --seed {seed} --trace{driver}"
        ) from error
    return cluster.counts


def _run(cluster: QuorumCluster, options: Options) -> None:
    for node in cluster.nodes.values():
        node.start()
    faults = QuorumFaults(cluster, options.voter_changes)
    _plan(cluster, options, options.submit_every_ms, cluster.submit)
    _plan(cluster, options, options.fault_every_ms, faults.strike)
    cluster.run_until(options.faults_ms)
    _repair(cluster)
    _await_health(cluster, options)
    _check_final(cluster)


def _plan(
    cluster: QuorumCluster, options: Options, every_ms: int, event: Callable[[], object]
) -> None:
    """Lets it happen again and again, at random, until the repair."""

    def again() -> None:
        if cluster.scheduler.now_ms < options.faults_ms:
            event()
            cluster.scheduler.after(cluster.rng.randint(1, 2 * every_ms), again)

    cluster.scheduler.after(cluster.rng.randint(1, 2 * every_ms), again)


def _repair(cluster: QuorumCluster) -> None:
    cluster.network.heal()
    cluster.network.weather = Weather()
    for node in cluster.nodes.values():
        if node.replica is not None and node.replica.quorum.is_shutting_down:
            node.stop()
        if not node.is_up:
            node.start()


def _await_health(cluster: QuorumCluster, options: Options) -> None:
    """Until a write is acknowledged and all voters have it."""
    last: Submit | None = None
    end_ms = options.faults_ms + options.repair_ms
    while cluster.scheduler.now_ms < end_ms:
        cluster.run_until(cluster.scheduler.now_ms + _LOOK_EVERY_MS)
        if last is None or not last.is_acknowledged:
            last = cluster.submit() or last
        elif _is_caught_up(cluster):
            return
    states = "\n".join(describe(node) for node in cluster.nodes.values())
    raise AssertionError(f"not well {options.repair_ms} ms after the repair:\n{states}")


def _is_caught_up(cluster: QuorumCluster) -> bool:
    """Whether all voters of the leader have applied all that is committed."""
    return any(
        leader.replica is not None
        and all(
            node.applied.offset >= cluster.invariants.committed_end
            for node in cluster.nodes.values()
            if leader.replica.voters.has_voter(node.local.key)
        )
        for leader in cluster.find_leaders()
    )


def _check_final(cluster: QuorumCluster) -> None:
    """Everybody has applied the same values in the same order, and no write is missing."""
    invariants = cluster.invariants
    committed = invariants.committed_values(invariants.committed_end)
    for node in cluster.nodes.values():
        if node.applied.values != committed[: len(node.applied.values)]:
            raise AssertionError(f"linearizable: {node.name} has applied something else")
    if len(set(committed)) != len(committed):
        raise AssertionError("linearizable: a write is there twice")
    missing = {submit.value for submit in invariants.acknowledged} - set(committed)
    if missing:
        raise AssertionError(f"linearizable: acknowledged writes are gone: {missing}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the simulated quorum of one or more seeds.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--trace", action="store_true", help="print every event")
    parser.add_argument("--driver", action="store_true", help="run whole drivers")
    arguments = parser.parse_args()
    node = DrivenNode if arguments.driver else SimulatedNode
    failed = 0
    counts: Counter[str] = Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        try:
            counts += run_seed(seed, Options(is_traced=arguments.trace, node=node))
        except SimulationError as error:
            failed += 1
            print(f"seed {seed}: {error}", flush=True)
    print(", ".join(f"{name} {count:,}" for name, count in counts.items()))
    print(f"{arguments.count - failed} of {arguments.count} seeds hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
