"""Which files are segments, of which partition."""

import re
from pathlib import Path

from snakka.pipeline.segments.listing import SegmentFile, deal, find_segments

ID = "AbCdEfGhIjKlMnOpQrStUw"


def make(root: Path, *names: str) -> None:
    for size, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))


def test_a_log_directory(tmp_path: Path) -> None:
    make(
        tmp_path,
        "meta.properties",
        "a-b-0/00000000000000000000.log",
        "a-b-0/00000000000000000100.log",
        "a-b-0/00000000000000000100.index",
        "a-b-0/00000000000000000100.log.deleted",
        "a-b-0/leader-epoch-checkpoint",
        "a-b-11/00000000000000000005.log",
        "a-b-1.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log",
        "a-b-1.0123456789abcdef0123456789abcdef-future/00000000000000000000.log",
        "__cluster_metadata-0/00000000000000000000.log",
        "other/00000000000000000000.log",
    )
    stem = str(tmp_path / "a-b-{}" / "{:020d}")
    assert find_segments([str(tmp_path)]) == [
        SegmentFile("a-b", 0, 0, stem.format(0, 0), 1, False),
        SegmentFile("a-b", 0, 100, stem.format(0, 100), 2, True),
        SegmentFile("a-b", 11, 5, stem.format(11, 5), 6, True),
    ]


def test_a_directory_tier(tmp_path: Path) -> None:
    name = f"orders-3-{ID}/00000000000000000007-{ID}"
    make(tmp_path, f"{name}.index", f"{name}.log", f"{name}.leader_epoch_checkpoint")
    assert find_segments([str(tmp_path)]) == [
        SegmentFile("orders", 3, 7, str(tmp_path / name), 1, True)
    ]


def test_topics_are_matched_whole(tmp_path: Path) -> None:
    make(tmp_path, *(f"{topic}-0/{0:020d}.log" for topic in ("a", "ab", "b")))
    found = find_segments([str(tmp_path)], re.compile("a|b"))
    assert [each.topic for each in found] == ["a", "b"]


def test_each_hand_gets_about_as_much() -> None:
    segments = [SegmentFile("t", 0, size, "", size, False) for size in range(100)]
    dealt = deal(segments, 4)
    assert sorted(dealt) == segments
    hands = [dealt[start : start + 25] for start in range(0, 100, 25)]
    sizes = [sum(each.size_bytes for each in hand) for hand in hands]
    assert max(sizes) - min(sizes) < 100
