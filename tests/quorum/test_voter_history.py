import pytest

from snakka.quorum.voter_history import VoterHistory
from snakka.quorum.voters import NO_VOTERS
from tests.quorum.replicas import voter_set


def history() -> VoterHistory:
    found = VoterHistory(NO_VOTERS)
    found.add_kraft_version(-1, 1)
    found.add_voters(-1, voter_set(1))
    found.add_voters(10, voter_set(1, 2))
    found.add_voters(20, voter_set(1, 2, 3))
    return found


def test_the_last_set_holds_committed_or_not() -> None:
    assert history().voters == voter_set(1, 2, 3)
    assert history().is_dynamic


def test_configured_voters_hold_while_the_log_has_none() -> None:
    static = VoterHistory(voter_set(7))
    assert static.voters == voter_set(7)
    assert not static.is_dynamic
    assert static.voters_at(100) is None


def test_a_truncation_brings_the_earlier_set_back() -> None:
    found = history()
    found.truncate_from_end(20)
    assert found.voters == voter_set(1, 2)
    found.truncate_from_end(10)
    assert found.voters == voter_set(1)
    assert found.kraft_version == 1


def test_what_holds_at_an_offset_outlives_what_is_before_it() -> None:
    found = history()
    found.truncate_from_start(15)
    assert found.voters_at(15) == voter_set(1, 2)
    assert found.voters_at(9) is None
    assert found.kraft_version_at(15) == 1


def test_voters_change_one_at_a_time() -> None:
    with pytest.raises(ValueError, match="more than one change"):
        history().add_voters(30, voter_set(1, 4, 5))


def test_offsets_rise() -> None:
    with pytest.raises(ValueError, match="does not rise"):
        history().add_voters(20, voter_set(1, 2))
