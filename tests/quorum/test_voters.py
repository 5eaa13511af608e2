import pytest

from snakka.quorum.voters import Endpoint, ReplicaKey, VersionRange, Voter, VoterSet
from tests.quorum.replicas import voter, voter_set
from tests.simulation.quorum_cluster import replica_key


def test_a_voter_is_a_replica_of_its_id_and_directory() -> None:
    assert voter_set(1, 2).has_voter(replica_key(1))
    assert not voter_set(1, 2).has_voter(ReplicaKey(1, replica_key(2).directory_id))
    assert not voter_set(1, 2).has_voter(ReplicaKey(1))


def test_a_configured_voter_is_any_replica_of_its_id() -> None:
    voters = VoterSet.of([Voter(ReplicaKey(1))])
    assert voters.has_voter(replica_key(1))
    assert not voters.has_voter(replica_key(2))


def test_an_id_votes_once() -> None:
    with pytest.raises(ValueError, match="two voters of one id"):
        VoterSet.of([voter(1), Voter(ReplicaKey(1))])
    assert voter_set(1).with_voter(Voter(ReplicaKey(1, replica_key(2).directory_id))) is None


def test_the_last_voter_stays() -> None:
    assert voter_set(1).without_voter(replica_key(1)) is None
    assert voter_set(1, 2).without_voter(replica_key(1)) == voter_set(2)


def test_a_voter_is_removed_by_its_directory() -> None:
    assert voter_set(1, 2).without_voter(ReplicaKey(1, replica_key(2).directory_id)) is None


def test_a_voter_changes_its_endpoints() -> None:
    moved = Voter(replica_key(1), (Endpoint("CONTROLLER", "elsewhere", 1),), VersionRange(0, 1))
    updated = voter_set(1, 2).with_updated(moved)
    assert updated is not None
    assert updated.find(1) == moved
    assert updated.keys == voter_set(1, 2).keys
    assert voter_set(2).with_updated(moved) is None


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ((1, 2, 3), (1, 2, 3), True),
        ((1, 2, 3), (1, 2), True),
        ((1, 2, 3), (1, 2, 3, 4), True),
        ((1, 2, 3), (1, 2, 4), True),
        ((1, 2, 3), (1,), False),
        ((1, 2, 3), (3, 4, 5), False),
    ],
)
def test_sets_that_differ_by_one_voter_overlap(
    one: tuple[int, ...], other: tuple[int, ...], overlap: bool
) -> None:
    assert voter_set(*one).has_overlapping_majority(voter_set(*other)) is overlap
