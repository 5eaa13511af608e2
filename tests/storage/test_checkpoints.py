import pytest

from snakka.storage.checkpoints import read_epochs, read_offsets, write_epochs, write_offsets
from snakka.storage.disk import Disk, read_whole, replace_file
from snakka.storage.epochs import EpochEntry
from snakka.storage.errors import CorruptFileError
from snakka.storage.names import TopicPartition

PATH = "/logs/recovery-point-offset-checkpoint"


def test_offsets(disk: Disk) -> None:
    offsets = {TopicPartition("a.b", 0): 12, TopicPartition("c-d", 7): 0}
    write_offsets(disk, PATH, offsets)
    assert read_whole(disk, PATH) == b"0\n2\na.b 0 12\nc-d 7 0\n"
    assert read_offsets(disk, PATH) == offsets


def test_epochs(disk: Disk) -> None:
    write_epochs(disk, PATH, [EpochEntry(0, 0), EpochEntry(3, 17)])
    assert read_whole(disk, PATH) == b"0\n2\n0 0\n3 17\n"
    assert read_epochs(disk, PATH) == [EpochEntry(0, 0), EpochEntry(3, 17)]


@pytest.mark.parametrize("content", [None, b"", b"0\n", b"0\n0\n"])
def test_missing_or_empty_holds_nothing(disk: Disk, content: bytes | None) -> None:
    if content is not None:
        replace_file(disk, PATH, content)
    assert read_offsets(disk, PATH) == {}


@pytest.mark.parametrize(
    "content",
    [b"1\n0\n", b"0\n2\nt 0 1\n", b"0\n1\nt 0\n", b"0\n1\nt 0 x\n", b"0\nx\n", b"\xff\n0\n"],
)
def test_damage_is_named(disk: Disk, content: bytes) -> None:
    replace_file(disk, PATH, content)
    with pytest.raises(CorruptFileError, match=PATH):
        read_offsets(disk, PATH)
