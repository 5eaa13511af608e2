"""The names of files and directories, exactly as Apache Kafka gives them. Pure.

A segment's files are its base offset in twenty digits and a suffix; what is on its way in or out
carries one more (`.cleaned`, `.swap`, `.deleted`). A partition's directory is `topic-partition`;
one that is moving in or out is `topic-partition.uniqueid-future`, `-delete` or `-stray`.
"""

import random
import re
from enum import StrEnum
from typing import Final, NamedTuple

LOG_SUFFIX: Final = ".log"
OFFSET_INDEX_SUFFIX: Final = ".index"
TIME_INDEX_SUFFIX: Final = ".timeindex"
TRANSACTION_INDEX_SUFFIX: Final = ".txnindex"
SNAPSHOT_SUFFIX: Final = ".snapshot"
SEGMENT_SUFFIXES: Final = (
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
)

DELETED_SUFFIX: Final = ".deleted"
CLEANED_SUFFIX: Final = ".cleaned"
SWAP_SUFFIX: Final = ".swap"
TEMPORARY_SUFFIX: Final = ".tmp"
DAMAGED_SUFFIX: Final = ".damaged"  # ours; Kafka passes over names that it does not know

METADATA_TOPIC: Final = "__cluster_metadata"

LEADER_EPOCH_CHECKPOINT: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"
META_PROPERTIES: Final = "meta.properties"
RECOVERY_POINT_CHECKPOINT: Final = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_CHECKPOINT: Final = "log-start-offset-checkpoint"
REPLICATION_OFFSET_CHECKPOINT: Final = "replication-offset-checkpoint"
CLEANER_OFFSET_CHECKPOINT: Final = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"

NAME_LENGTH_MAX: Final = 255
_OFFSET_FILE = re.compile(r"(\d{20})(\.[a-z]+)(\.[a-z]+)?")
_MOVING_DIRECTORY = re.compile(r"(\S+)\.\S+-(delete|future|stray)")
_PARTITION_DIRECTORY = re.compile(r"(\S+)-(\d+)")


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class DirectoryKind(StrEnum):
    """What a partition's directory is for; the value is the suffix without its dash."""

    CURRENT = ""
    DELETE = "delete"
    FUTURE = "future"
    STRAY = "stray"


class PartitionDirectory(NamedTuple):
    partition: TopicPartition
    kind: DirectoryKind


class OffsetFile(NamedTuple):
    """A file named after an offset. `state` is "" or one of the suffixes of passage."""

    offset: int
    suffix: str
    state: str


def offset_file_name(offset: int, suffix: str, state: str = "") -> str:
    return f"{offset:020d}{suffix}{state}"


def find_offset_file(name: str) -> OffsetFile | None:
    match = _OFFSET_FILE.fullmatch(name)
    if match is None:
        return None
    return OffsetFile(int(match[1]), match[2], match[3] or "")


def random_unique_id(rng: random.Random) -> str:
    """A random UUID as a moving directory's name has it."""
    return f"{rng.getrandbits(128):032x}"


def moving_directory_name(partition: TopicPartition, kind: DirectoryKind, unique_id: str) -> str:
    """A name for a directory on its way in or out. Only a future one must keep its topic whole."""
    suffix = f"-{partition.partition}.{unique_id}-{kind}"
    if kind is DirectoryKind.FUTURE:
        return partition.topic + suffix
    return partition.topic[: NAME_LENGTH_MAX - len(suffix)] + suffix


def find_partition_directory(name: str) -> PartitionDirectory | None:
    kind = DirectoryKind.CURRENT
    moving = _MOVING_DIRECTORY.fullmatch(name)
    if moving:
        name, kind = moving[1], DirectoryKind(moving[2])
    match = _PARTITION_DIRECTORY.fullmatch(name)
    if match is None:
        return None
    return PartitionDirectory(TopicPartition(match[1], int(match[2])), kind)
