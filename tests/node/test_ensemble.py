import random

import pytest

from snakka.node.ensemble import Ensemble, claim, survey
from snakka.node.formatting import Identity, NotFormattedError
from snakka.protocol.types import Uuid
from snakka.storage.disk import replace_file
from snakka.storage.identity import MetaProperties, read_meta_properties, write_meta_properties
from tests.simulation.disk import SimulatedDisk

OURS = Identity("our-cluster", 7, Uuid(b"m" * 16), is_new=False)
OTHER_ID = Uuid(b"b" * 16)


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk(random.Random(1))
    for path in ("/a", "/b", "/c"):
        disk.make_directory(path)
    give(disk, "/a", MetaProperties("our-cluster", 7, OURS.directory_id))
    return disk


def give(disk: SimulatedDisk, path: str, meta: MetaProperties) -> None:
    write_meta_properties(disk, f"{path}/meta.properties", meta)


def claimed(disk: SimulatedDisk, *paths: str) -> Ensemble:
    return claim(disk, survey(disk, paths), OURS, "/a", random.Random(2))


def test_new_directories_get_ids_that_last(disk: SimulatedDisk) -> None:
    give(disk, "/b", MetaProperties("our-cluster", 7))  # from before directories had ids
    first = claimed(disk, "/a", "/b", "/c")
    assert len(set(first.ids.values())) == 3
    assert first.ids["/a"] == OURS.directory_id
    meta = read_meta_properties(disk, "/c/meta.properties")
    assert meta == MetaProperties("our-cluster", 7, first.ids["/c"])
    assert claimed(disk, "/c", "/b", "/a").ids == first.ids


def test_a_directory_that_cannot_be_read_has_failed(disk: SimulatedDisk) -> None:
    replace_file(disk, "/b/meta.properties", b"version=9\n")
    ensemble = claimed(disk, "/a", "/b", "/c")
    assert list(ensemble.ids) == ["/a", "/c"]
    assert "version '9'" in ensemble.failed["/b"]


@pytest.mark.parametrize(
    ("meta", "complaint"),
    [
        (MetaProperties("their-cluster", 7, OTHER_ID), "cluster.id=their-cluster"),
        (MetaProperties("our-cluster", 8, OTHER_ID), "node.id=8"),
        (MetaProperties("our-cluster", 7, OURS.directory_id), "is taken already"),
    ],
)
def test_directories_that_are_not_ours(
    disk: SimulatedDisk, meta: MetaProperties, complaint: str
) -> None:
    give(disk, "/b", meta)
    with pytest.raises(NotFormattedError, match=complaint):
        claimed(disk, "/a", "/b")


def test_a_metadata_log_in_another_directory(disk: SimulatedDisk) -> None:
    disk.make_directory("/b/__cluster_metadata-0")
    with pytest.raises(NotFormattedError, match="is not in the metadata directory, /a"):
        claimed(disk, "/a", "/b")


def test_a_node_is_fresh_only_where_nothing_says_otherwise(disk: SimulatedDisk) -> None:
    assert survey(disk, ["/b", "/c"]).is_fresh
    assert not survey(disk, ["/a", "/b"]).is_fresh
    replace_file(disk, "/b/meta.properties", b"junk")
    assert not survey(disk, ["/b", "/c"]).is_fresh
