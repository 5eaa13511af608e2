import pytest

from snakka.protocol.types import Uuid
from snakka.storage.residence import Fate, Found, Residence, decide_fates

OURS, OTHER = Uuid(b"o" * 16), Uuid(b"x" * 16)
AT_A, AT_B, ANYWHERE = Residence(OURS, "/a"), Residence(OURS, "/b"), Residence(OURS, None)


def current(path: str, end: int = 10, epoch: int = 1, topic_id: Uuid | None = OURS) -> Found:
    return Found(path, False, topic_id, epoch, end)


def future(path: str, end: int = 10, epoch: int = 1, topic_id: Uuid | None = OURS) -> Found:
    return Found(path, True, topic_id, epoch, end)


@pytest.mark.parametrize(
    ("found", "residence", "fates"),
    [
        # The usual, wherever the controller thinks that it is.
        ([current("/a")], AT_A, [Fate.SERVE]),
        ([current("/a")], AT_B, [Fate.SERVE]),
        ([current("/a")], ANYWHERE, [Fate.SERVE]),
        # Not ours, or not any more: another topic of that name, no replica here, never finished.
        ([current("/a", topic_id=OTHER)], AT_A, [Fate.SET_ASIDE]),
        ([current("/a", topic_id=None)], AT_A, [Fate.SET_ASIDE]),
        ([current("/a")], None, [Fate.SET_ASIDE]),
        ([current("/a", topic_id=OTHER), current("/b")], AT_A, [Fate.SET_ASIDE, Fate.SERVE]),
        # Copies of such have nothing of their own.
        ([current("/a"), future("/b")], None, [Fate.SET_ASIDE, Fate.DELETE]),
        ([current("/a"), future("/b", topic_id=None)], AT_B, [Fate.SERVE, Fate.DELETE]),
        # A move goes on, whether or not the controller has been told of it.
        ([current("/a"), future("/b", end=3)], AT_A, [Fate.SERVE, Fate.RESUME]),
        ([current("/a"), future("/b", end=10)], AT_B, [Fate.SERVE, Fate.RESUME]),
        # A power loss took the end of the log: the controller knows of no swap.
        ([current("/a", end=7), future("/b", end=10)], AT_A, [Fate.SERVE, Fate.RESUME]),
        # The swap was made, but for its name.
        ([current("/a", end=7), future("/b", end=10)], AT_B, [Fate.DELETE, Fate.PROMOTE]),
        ([current("/a", end=7, epoch=2), future("/b", end=10)], AT_B, [Fate.SERVE, Fate.RESUME]),
        # The swap was made, and the old log was still there: the later epoch counts, then the end.
        ([current("/a", end=9), current("/b")], AT_B, [Fate.SET_ASIDE, Fate.SERVE]),
        ([current("/a", epoch=2), current("/b", end=99)], AT_B, [Fate.SERVE, Fate.SET_ASIDE]),
        # A cancelled copy, or one that lies where the log is, is none.
        (
            [current("/a"), future("/b", end=9), future("/c", end=1)],
            Residence(OURS, "/c"),
            [Fate.SERVE, Fate.DELETE, Fate.RESUME],
        ),
        ([current("/a"), future("/a")], AT_A, [Fate.SERVE, Fate.DELETE]),
    ],
)
def test_fates(found: list[Found], residence: Residence | None, fates: list[Fate]) -> None:
    assert decide_fates(found, residence, are_all_online=True) == fates


@pytest.mark.parametrize(
    ("residence", "are_all_online", "fate"),
    [
        (AT_B, False, Fate.PROMOTE),  # the directory with the current log failed after the decision
        (AT_B, True, Fate.PROMOTE),
        (AT_A, False, Fate.LEAVE),  # the current log may come back
        (AT_A, True, Fate.SET_ASIDE),  # it will not, but these may be all the records there are
    ],
)
def test_a_copy_without_its_original(
    residence: Residence, are_all_online: bool, fate: Fate
) -> None:
    assert decide_fates([future("/b")], residence, are_all_online=are_all_online) == [fate]
