"""The versions of the metadata log (`metadata.version`), and what each of them brought.

Which version of a record a log at a level may hold; what this code supports of each feature.
Not here: who may change a level, and when (controller/features.py).
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
ELR_VERSION: Final = "eligible.leader.replicas.version"
SHARE_VERSION: Final = "share.version"
STREAMS_VERSION: Final = "streams.version"


class MetadataVersion(IntEnum):
    """A level of `metadata.version`, named as Kafka's releases name it."""

    V3_3_IV3 = 7
    V3_4_IV0 = 8
    V3_5_IV0 = 9
    V3_5_IV1 = 10
    V3_5_IV2 = 11
    V3_6_IV0 = 12
    V3_6_IV1 = 13
    V3_6_IV2 = 14
    V3_7_IV0 = 15
    V3_7_IV1 = 16
    V3_7_IV2 = 17
    V3_7_IV3 = 18
    V3_7_IV4 = 19
    V3_8_IV0 = 20
    V3_9_IV0 = 21
    V4_0_IV0 = 22
    V4_0_IV1 = 23
    V4_0_IV2 = 24
    V4_0_IV3 = 25
    V4_1_IV0 = 26
    V4_1_IV1 = 27
    V4_2_IV0 = 28
    V4_2_IV1 = 29
    V4_3_IV0 = 30

    def __str__(self) -> str:
        major, minor, step = self.name[1:].split("_")
        return f"{major}.{minor}-{step}"

    @property
    def has_scram(self) -> bool:
        return self >= MetadataVersion.V3_5_IV2

    @property
    def bumps_leader_epoch_on_isr_shrink(self) -> bool:
        return self < MetadataVersion.V3_6_IV0

    @property
    def has_transactions(self) -> bool:
        """Whether records may be grouped into metadata transactions (KIP-868)."""
        return self >= MetadataVersion.V3_6_IV1

    @property
    def has_delegation_tokens(self) -> bool:
        return self >= MetadataVersion.V3_6_IV2

    @property
    def has_controller_registration(self) -> bool:
        return self >= MetadataVersion.V3_7_IV0

    @property
    def has_directories(self) -> bool:
        """Whether replicas say their log directory (KIP-858)."""
        return self >= MetadataVersion.V3_7_IV2

    @property
    def has_elr(self) -> bool:
        return self >= MetadataVersion.V4_0_IV1

    @property
    def has_cordoned_directories(self) -> bool:
        """KIP-1066."""
        return self >= MetadataVersion.V4_3_IV0


OLDEST: Final = min(MetadataVersion)
LATEST: Final = max(MetadataVersion)

# Levels that brought records or fields of records: a log below them cannot hold what they may.
_CHANGED_METADATA: Final = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30})


class Levels(NamedTuple):
    """A range of levels of a feature, both ends included."""

    min: int
    max: int

    def __contains__(self, level: object) -> bool:
        return isinstance(level, int) and self.min <= level <= self.max


SUPPORTED_FEATURES: Final[Mapping[str, Levels]] = MappingProxyType(
    {
        METADATA_VERSION: Levels(int(OLDEST), int(LATEST)),
        KRAFT_VERSION: Levels(0, 1),
        TRANSACTION_VERSION: Levels(0, 2),
        GROUP_VERSION: Levels(0, 1),
        ELR_VERSION: Levels(0, 1),
        SHARE_VERSION: Levels(0, 1),
        STREAMS_VERSION: Levels(0, 1),
    }
)

# The level of `metadata.version` from which on a cluster is formatted with the highest level.
_DEFAULT_FROM: Final = MappingProxyType(
    {
        TRANSACTION_VERSION: MetadataVersion.V4_0_IV2,
        GROUP_VERSION: MetadataVersion.V4_0_IV0,
        ELR_VERSION: MetadataVersion.V4_1_IV0,
        SHARE_VERSION: MetadataVersion.V4_2_IV0,
        STREAMS_VERSION: MetadataVersion.V4_2_IV1,
    }
)


def default_levels(metadata_version: MetadataVersion = LATEST) -> dict[str, int]:
    """The levels that a new cluster is formatted with, without `kraft.version`: the quorum's."""
    levels: dict[str, int] = {METADATA_VERSION: int(metadata_version)}
    for feature, first in _DEFAULT_FROM.items():
        if metadata_version >= first:
            levels[feature] = SUPPORTED_FEATURES[feature].max
    return levels


def loses_metadata(current: MetadataVersion, lower: MetadataVersion) -> bool:
    """Whether going down to `lower` may leave behind what a log there cannot hold."""
    return any(lower < level <= current for level in _CHANGED_METADATA)


def record_version(record: MetadataRecord, level: MetadataVersion) -> int:
    """The version in which a log at this level holds a record."""
    match record:
        case RegisterBrokerRecord():
            return _step(level, (7, 1), (8, 2), (17, 3), (30, 4))
        case BrokerRegistrationChangeRecord():
            return _step(level, (7, 1), (17, 2), (30, 3))
        case PartitionRecord() | PartitionChangeRecord():
            return _step(level, (7, 0), (17, 1), (23, 2))
        case _:
            return 0


def _step(level: MetadataVersion, *steps: tuple[int, int]) -> int:
    return max(version for first, version in steps if level >= first)
