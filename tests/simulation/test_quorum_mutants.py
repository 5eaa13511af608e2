"""Rules of the quorum broken on purpose: the simulation finds each out, and by which promise.

A mutant replaces one decision by a wrong one. Some break under many seeds, some under few.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.quorum import (
    following,
    hints,
    reconfiguration,
    replica,
    role,
    serving,
    transitions,
    voting,
)
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.progress import Replicas
from snakka.quorum.quorum import Quorum
from snakka.quorum.replica import QuorumReplica, Submitted
from snakka.quorum.replies import Fetched
from snakka.quorum.roles import leader as leading
from tests.quorum.transcript import DIRECTORY, replay
from tests.simulation.quorum_invariants import InvariantError
from tests.simulation.quorum_node import SimulatedNode
from tests.simulation.quorum_run import DEFAULTS, Options, SimulationError, run_seed

SEEDS_MAX = 400
Patch = pytest.MonkeyPatch


class Forgetful(SimulatedNode):
    """Its election state never reaches the disk."""

    def write_election(self, election: ElectionState) -> None:
        pass


class Hasty(SimulatedNode):
    """Acknowledges what is only appended."""

    def is_acknowledgeable(self, replica: QuorumReplica, where: Submitted) -> bool:
        return True


class Rash(SimulatedNode):
    """Writes snapshots of whatever is in the log."""

    def write_snapshot(self) -> None:
        if self.replica is not None and self.disk.log.end.offset > self.disk.log.start_offset:
            self.write_snapshot_at(self.disk.log.end)


def votes_twice(patch: Patch) -> None:
    patch.setattr(
        voting,
        "can_grant",
        lambda quorum, candidate, end, pre_vote: end.is_up_to_date_with(quorum.log.end),
    )


def votes_for_any_log(patch: Patch) -> None:
    patch.setattr(OffsetAndEpoch, "is_up_to_date_with", lambda self, other: True)


def commits_with_a_minority(patch: Patch) -> None:
    patch.setattr(
        Replicas,
        "replicated_offset",
        lambda self: max(progress.end_offset for progress in self.voters.values()),
    )


def commits_with_observers(patch: Patch) -> None:
    def replicated_offset(self: Replicas) -> int:
        everybody = [*self.voters.values(), *self.observers.values()]
        ends = sorted((each.end_offset for each in everybody), reverse=True)
        return ends[len(self.voters) // 2]

    patch.setattr(Replicas, "replicated_offset", replicated_offset)


def commits_earlier_epochs(patch: Patch) -> None:
    def commit(quorum: Quorum, leader: role.Leader) -> None:
        own = leader.replicas.find_voter(quorum.local.key)
        if own is not None:
            own.end_offset = quorum.synced_offset
        quorum.advance_high_watermark(max(0, leader.replicas.replicated_offset()))

    patch.setattr(leading, "commit", commit)


def counts_what_is_not_synced(patch: Patch) -> None:
    patch.setattr(Quorum, "synced_offset", property(lambda self: self.log.end.offset))


def fetches_before_it_has_synced(patch: Patch) -> None:
    patch.setattr(Quorum, "is_synced", property(lambda self: True))


def ignores_divergence(patch: Patch) -> None:
    patch.setattr(serving, "check_position", lambda quorum, end: Fetched())
    patch.setattr(following, "_append", lambda quorum, records: quorum.append(records) or True)


def truncates_what_is_committed(patch: Patch) -> None:
    def truncate(self: Quorum, end_offset: int) -> None:
        self.log.truncate(end_offset)
        self.history.truncate_from_end(end_offset)
        self._log_was_cut()

    patch.setattr(following, "truncation_offset", lambda log, diverging: log.start_offset)
    patch.setattr(Quorum, "truncate", truncate)


def believes_any_high_watermark(patch: Patch) -> None:
    def learn(quorum: Quorum, leader_high_watermark: int) -> None:
        quorum.high_watermark = max(0, min(leader_high_watermark, quorum.log.end.offset))

    patch.setattr(following, "_learn_high_watermark", learn)


def counts_pre_votes_as_votes(patch: Patch) -> None:
    become_candidate = transitions.become_candidate

    def keep_granting(quorum: Quorum, prospective: role.Prospective, now_ms: int) -> None:
        become_candidate(quorum, prospective, now_ms)
        assert isinstance(quorum.role, role.Candidate)
        quorum.role.granting |= prospective.granting

    patch.setattr("snakka.quorum.roles.prospective.become_candidate", keep_granting)


def resumes_a_leadership(patch: Patch) -> None:
    """A leader that restarts goes on in its epoch, with a log that may have lost its end."""

    def resume(self: QuorumReplica, now_ms: int) -> None:
        quorum = self._quorum
        if quorum.leader_id == quorum.local.key.id:
            candidate = role.Candidate(quorum.voters, now_ms, 1)
            quorum.role = candidate
            transitions.become_leader(quorum, candidate, now_ms)
        else:
            quorum.role = role.Unattached(now_ms + 100)

    patch.setattr(QuorumReplica, "_resume", resume)


def goes_back_to_an_earlier_epoch(patch: Patch) -> None:
    def settle(quorum: Quorum, error_code: int, hint: hints.LeaderHint, now_ms: int) -> bool:
        if hint.epoch < quorum.epoch:
            quorum.election = ElectionState(hint.epoch)
        return hints.settle(quorum, error_code, hint, now_ms)

    patch.setattr(following, "settle", settle)
    patch.setattr(voting, "settle", settle)


def snapshots_what_is_not_committed(patch: Patch) -> None:
    patch.setattr(replica, "check_snapshot", lambda quorum, snapshot_id: None)


def changes_voters_too_early(patch: Patch) -> None:
    patch.setattr(reconfiguration, "_check_change", lambda quorum: (ErrorCode.NONE, None))


def nothing(patch: Patch) -> None:
    pass


@dataclass(frozen=True)
class Mutant:
    break_rule: Callable[[Patch], None]
    caught_by: str  # part of what the invariant says
    options: Options = DEFAULTS
    first_seed: int = 0  # where it takes very many seeds, one shortly before the first that shows

    def __str__(self) -> str:
        if self.break_rule is nothing:
            return self.options.node.__name__.lower()
        return self.break_rule.__name__


MANY_CHANGES = Options(voter_changes=100)

MUTANTS = [
    Mutant(votes_twice, "one leader per epoch"),
    Mutant(counts_pre_votes_as_votes, "one leader per epoch"),
    Mutant(nothing, "epochs monotonic", Options(node=Forgetful)),
    Mutant(goes_back_to_an_earlier_epoch, "epochs monotonic"),
    Mutant(resumes_a_leadership, "log matching"),
    Mutant(ignores_divergence, "log matching"),
    Mutant(votes_for_any_log, "committed entry lost"),
    Mutant(truncates_what_is_committed, "committed entry lost"),
    Mutant(changes_voters_too_early, "committed entry lost", MANY_CHANGES, first_seed=190),
    Mutant(commits_with_a_minority, "not on a majority"),
    Mutant(commits_with_observers, "not on a majority"),
    Mutant(counts_what_is_not_synced, "not on a majority"),
    Mutant(fetches_before_it_has_synced, "not on a majority"),
    Mutant(believes_any_high_watermark, "high watermark falls"),
    Mutant(snapshots_what_is_not_committed, "ahead of the high watermark", Options(node=Rash)),
    Mutant(nothing, "linearizable", Options(node=Hasty)),
]


def failures(mutant: Mutant) -> Iterator[str]:
    for seed in range(mutant.first_seed, mutant.first_seed + SEEDS_MAX):
        try:
            run_seed(seed, mutant.options)
        except SimulationError as error:
            yield f"{seed}: {error}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_broken_rule_is_found_out(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant.break_rule(monkeypatch)
    assert any(mutant.caught_by in failure for failure in failures(mutant)), "nobody noticed"


def test_committing_earlier_epochs_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes four crashes in the right order, which seeds rarely bring about: they are told."""
    commits_earlier_epochs(monkeypatch)
    with pytest.raises(InvariantError, match="committed entry lost: the leader of 4 lacks"):
        replay((DIRECTORY / "earlier_epochs.txt").read_text())
