"""The ids of log directories that name none (KIP-858)."""

from collections.abc import Collection
from typing import Final

from snakka.protocol.types import Uuid

_RESERVED: Final = 100


def _reserved(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


MIGRATING: Final = _reserved(0)  # assigned before directories had ids
UNASSIGNED: Final = _reserved(1)  # the broker has not said yet
LOST: Final = _reserved(2)  # the directory has failed, which one is not known


def is_reserved(directory: Uuid) -> bool:
    return int.from_bytes(directory, "big") < _RESERVED


def is_online(directory: Uuid, online: Collection[Uuid]) -> bool:
    """Whether a replica there can be used, where its broker has registered these directories."""
    if directory in (UNASSIGNED, MIGRATING):
        return True
    return directory != LOST and (not online or directory in online)
