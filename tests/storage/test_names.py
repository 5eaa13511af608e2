import pytest

from snakka.storage.names import (
    DirectoryKind,
    OffsetFile,
    PartitionDirectory,
    TopicPartition,
    find_offset_file,
    find_partition_directory,
    moving_directory_name,
    offset_file_name,
)


def test_files_are_named_after_offsets() -> None:
    assert offset_file_name(42, ".log") == "00000000000000000042.log"
    assert offset_file_name(42, ".index", ".deleted") == "00000000000000000042.index.deleted"
    assert find_offset_file("00000000000000000042.timeindex") == OffsetFile(42, ".timeindex", "")
    assert find_offset_file("00000000000000000007.log.swap") == OffsetFile(7, ".log", ".swap")
    assert find_offset_file("leader-epoch-checkpoint") is None
    assert find_offset_file("42.log") is None


@pytest.mark.parametrize(
    ("name", "topic", "partition", "kind"),
    [
        ("t-0", "t", 0, DirectoryKind.CURRENT),
        ("a.b-c-12", "a.b-c", 12, DirectoryKind.CURRENT),
        ("a.b-c-12.0af3-delete", "a.b-c", 12, DirectoryKind.DELETE),
        ("a.b-c-12.0af3-future", "a.b-c", 12, DirectoryKind.FUTURE),
        ("t-0.0af3-stray", "t", 0, DirectoryKind.STRAY),
    ],
)
def test_partition_directories(name: str, topic: str, partition: int, kind: DirectoryKind) -> None:
    place = TopicPartition(topic, partition)
    assert find_partition_directory(name) == PartitionDirectory(place, kind)
    if kind is not DirectoryKind.CURRENT:
        assert moving_directory_name(place, kind, "0af3") == name


def test_other_directories_are_no_partitions() -> None:
    assert find_partition_directory("lost+found") is None
    assert find_partition_directory("topic-x") is None


def test_a_deleted_directory_cuts_a_long_topic_but_a_future_one_does_not() -> None:
    place = TopicPartition("t" * 249, 0)
    assert len(moving_directory_name(place, DirectoryKind.DELETE, "0" * 32)) == 255
    assert moving_directory_name(place, DirectoryKind.FUTURE, "0" * 32).startswith(place.topic)
