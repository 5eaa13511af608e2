from snakka.quorum.progress import Progress, Replicas
from tests.quorum.replicas import voter_set
from tests.simulation.quorum_cluster import replica_key


def test_one_that_fetches_at_the_end_is_caught_up() -> None:
    progress = Progress(replica_key(1))
    progress.fetched(10, leader_end=10, now_ms=100)
    assert progress.last_caught_up_ms == 100


def test_one_that_has_what_there_was_when_it_fetched_before_was_caught_up_then() -> None:
    progress = Progress(replica_key(1))
    progress.fetched(5, leader_end=10, now_ms=100)
    assert progress.last_caught_up_ms == -1
    progress.fetched(10, leader_end=20, now_ms=200)
    assert progress.last_caught_up_ms == 100


def test_observers_do_not_count_until_they_vote() -> None:
    replicas = Replicas()
    replicas.follow(voter_set(1, 2, 3))
    replicas.voters[replica_key(1)].end_offset = 10
    observer = replicas.observe(replica_key(4), limit=10)
    assert observer is not None
    observer.end_offset = 10
    assert replicas.replicated_offset() == -1
    replicas.follow(voter_set(1, 2, 4))
    assert replicas.replicated_offset() == 10
    assert set(replicas.observers) == {replica_key(3)}


def test_another_directory_of_a_voter_is_an_observer() -> None:
    replicas = Replicas()
    replicas.follow(voter_set(1, 2))
    assert replicas.find_voter(replica_key(2)) is not None
    assert (
        replicas.find_voter(replica_key(2)._replace(directory_id=replica_key(9).directory_id))
        is None
    )


def test_there_is_a_limit_to_observers_and_an_end_to_their_time() -> None:
    replicas = Replicas()
    first = replicas.observe(replica_key(1), limit=1)
    assert first is not None
    first.fetched(0, leader_end=5, now_ms=100)
    assert replicas.observe(replica_key(2), limit=1) is None
    replicas.forget_observers(before_ms=101)
    assert replicas.observe(replica_key(2), limit=1) is not None
