"""Checkpoint files: a version line, a count line, then one line per entry, replaced atomically.

Offset checkpoints lie in a log directory and cover its partitions; the leader epoch checkpoint
lies in the partition's own directory. A missing or empty file holds nothing; a damaged one raises.

Not here: when they are written, and which offset is safe to write.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from snakka.storage.disk import Disk, read_whole, replace_file
from snakka.storage.epochs import EpochEntry
from snakka.storage.errors import CorruptFileError
from snakka.storage.names import TopicPartition

_VERSION: Final = "0"


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    offsets = {}
    for fields in _read(disk, path, fields_per_line=3):
        topic, partition, offset = fields
        offsets[TopicPartition(topic, _number(partition, path))] = _number(offset, path)
    return offsets


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    _write(disk, path, (f"{p.topic} {p.partition} {offset}" for p, offset in offsets.items()))


def read_epochs(disk: Disk, path: str) -> list[EpochEntry]:
    return [
        EpochEntry(_number(epoch, path), _number(start_offset, path))
        for epoch, start_offset in _read(disk, path, fields_per_line=2)
    ]


def write_epochs(disk: Disk, path: str, epochs: Iterable[EpochEntry]) -> None:
    _write(disk, path, (f"{entry.epoch} {entry.start_offset}" for entry in epochs))


def _write(disk: Disk, path: str, entries: Iterable[str]) -> None:
    lines = list(entries)
    text = "".join(f"{line}\n" for line in (_VERSION, str(len(lines)), *lines))
    replace_file(disk, path, text.encode())


def _read(disk: Disk, path: str, fields_per_line: int) -> list[list[str]]:
    try:
        text = read_whole(disk, path).decode()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise CorruptFileError(path, "not UTF-8") from None
    lines = text.splitlines()
    if len(lines) < 2:
        return []
    if lines[0] != _VERSION:
        raise CorruptFileError(path, f"version {lines[0]!r}")
    entries = [line.split() for line in lines[2:]]
    for number, fields in enumerate(entries, start=3):
        if len(fields) != fields_per_line:
            raise CorruptFileError(path, f"line {number} is malformed")
    if len(entries) != _number(lines[1], path):
        raise CorruptFileError(path, f"{lines[1]} entries promised, {len(entries)} found")
    return entries


def _number(text: str, path: str) -> int:
    if not text.isascii() or not text.removeprefix("-").isdigit():
        raise CorruptFileError(path, f"{text!r} is not a number")
    return int(text)
