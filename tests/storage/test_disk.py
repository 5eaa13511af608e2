"""The contract of the port, for both disks alike; then the tricks of the simulated one."""

import errno
import random
from pathlib import Path

import pytest

from snakka.storage.disk import Disk, LocalDisk, read_whole, replace_file
from snakka.storage.open_files import OpenFiles
from tests.simulation.disk import SimulatedDisk


@pytest.fixture(params=["local", "simulated"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Disk, str]:
    if request.param == "local":
        return LocalDisk(), str(tmp_path)
    disk = SimulatedDisk(random.Random(1))
    disk.make_directory("/d")
    return disk, "/d"


def test_reads_and_writes_name_their_position(place: tuple[Disk, str]) -> None:
    disk, directory = place
    file = disk.open(f"{directory}/a", create=True)
    file.write([b"hello ", bytearray(b"wor"), memoryview(b"ld")], 0)
    file.write([b"J"], 0)
    assert file.size() == 11
    assert file.read(0, 5) == b"Jello"
    assert file.read(6, 100) == b"world"
    assert file.read(11, 1) == b""
    buffer = bytearray(8)
    assert file.read_into(buffer, 6) == 5
    assert buffer == b"world\0\0\0"


def test_more_buffers_than_one_system_call_takes(place: tuple[Disk, str]) -> None:
    disk, directory = place
    file = disk.open(f"{directory}/a", create=True)
    file.write([b"%04d" % n for n in range(3000)], 0)
    assert file.read(4 * 2999, 4) == b"2999"
    assert file.size() == 12000


def test_truncation_and_a_write_past_the_end(place: tuple[Disk, str]) -> None:
    disk, directory = place
    file = disk.open(f"{directory}/a", create=True)
    file.write([b"abcdef"], 0)
    file.truncate(2)
    file.write([b"z"], 4)
    file.sync()
    assert file.read(0, 10) == b"ab\0\0z"


def test_names(place: tuple[Disk, str]) -> None:
    disk, directory = place
    with pytest.raises(FileNotFoundError):
        disk.open(f"{directory}/a")
    disk.open(f"{directory}/a", create=True).write([b"1"], 0)
    disk.open(f"{directory}/b", create=True)
    disk.rename(f"{directory}/a", f"{directory}/b")
    disk.make_directory(f"{directory}/sub")
    assert sorted(disk.names(directory)) == ["b", "sub"]
    assert disk.status(f"{directory}/b").size_bytes == 1
    disk.sync_directory(directory)
    disk.remove(f"{directory}/b")
    assert disk.names(directory) == ["sub"]
    with pytest.raises(FileNotFoundError):
        disk.status(f"{directory}/b")
    with pytest.raises(FileNotFoundError):
        disk.names(f"{directory}/none")


def test_an_unlinked_file_is_readable_while_held(place: tuple[Disk, str]) -> None:
    disk, directory = place
    file = disk.open(f"{directory}/a", create=True)
    file.write([b"still here"], 0)
    disk.remove(f"{directory}/a")
    assert file.read(0, 10) == b"still here"


def test_replace_file(place: tuple[Disk, str]) -> None:
    disk, directory = place
    replace_file(disk, f"{directory}/c", b"a longer first content")
    replace_file(disk, f"{directory}/c", b"second")
    assert read_whole(disk, f"{directory}/c") == b"second"
    assert disk.names(directory) == ["c"]


def test_open_files_keeps_the_most_recently_used(place: tuple[Disk, str]) -> None:
    disk, directory = place
    files = OpenFiles(disk, limit=2)
    first = files.get(f"{directory}/1", create=True)
    files.get(f"{directory}/2", create=True)
    assert files.get(f"{directory}/1") is first
    files.get(f"{directory}/3", create=True)
    assert len(files) == 2
    assert files.get(f"{directory}/1") is first
    files.forget(f"{directory}/1")
    assert files.get(f"{directory}/1") is not first


def test_a_local_descriptor_is_open_while_held(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    files = OpenFiles(LocalDisk(), limit=1)
    held = files.get(str(tmp_path / "1"), create=True)
    held.write([b"x"], 0)
    files.get(str(tmp_path / "2"), create=True)
    assert held.read(0, 1) == b"x"
    assert len(list(descriptors.iterdir())) == before + 2
    del held
    assert len(list(descriptors.iterdir())) == before + 1


def test_a_crash_keeps_what_was_synced() -> None:
    for seed in range(50):
        disk = SimulatedDisk(random.Random(seed))
        file = disk.open("/a", create=True)
        file.write([b"synced"], 0)
        file.sync()
        disk.sync_directory("/")
        file.write([b"lost?"], 6)
        file.write([b"more"], 11)
        disk.open("/b", create=True)
        disk.crash()
        assert disk.open("/a").read(0, 6) == b"synced", seed
        assert disk.open("/a").size() <= 15, seed


def test_a_crash_can_lose_tear_and_zero() -> None:
    seen = set()
    for seed in range(400):
        disk = SimulatedDisk(random.Random(seed))
        file = disk.open("/a", create=True)
        disk.sync_directory("/")
        file.write([b"abcd"], 0)
        disk.crash()
        seen.add(read_whole(disk, "/a"))
    assert {b"", b"ab", b"abcd", b"\0\0\0\0"} <= seen


def test_a_crash_can_lose_a_name_that_was_not_synced() -> None:
    outcomes = set()
    for seed in range(40):
        disk = SimulatedDisk(random.Random(seed))
        disk.open("/a", create=True).sync()
        disk.crash()
        outcomes.add(tuple(disk.names("/")))
    assert outcomes == {(), ("a",)}


def test_replace_file_survives_any_crash() -> None:
    for seed in range(100):
        disk = SimulatedDisk(random.Random(seed))
        replace_file(disk, "/c", b"first")
        disk.failing = {"sync"} if seed % 2 else set()
        try:
            replace_file(disk, "/c", b"second")
        except OSError:
            disk.failing = set()
        disk.crash()
        assert read_whole(disk, "/c") in (b"first", b"second"), seed


def test_faults() -> None:
    disk = SimulatedDisk(random.Random(1), capacity_bytes=10)
    file = disk.open("/a", create=True)
    with pytest.raises(OSError, match="No space") as full:
        file.write([b"0123456789abc"], 0)
    assert full.value.errno == errno.ENOSPC
    assert file.read(0, 20) == b"0123456789"
    file.write([b"X"], 3)
    disk.flip_bit("/a", 3)
    assert file.read(3, 1) == b"Y"
    disk.failing = {"read", "sync"}
    with pytest.raises(OSError, match="Input/output"):
        file.read(0, 1)
    with pytest.raises(OSError, match="Input/output"):
        file.sync()
