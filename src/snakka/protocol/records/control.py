"""Control records: what a control batch says in its key, and the marker that ends a transaction.

Not here: the other values (leader change, snapshot header and footer, KRaft version and voters),
which are messages and declared in protocol/internal.
"""

import struct
from enum import IntEnum
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.record import Record
from snakka.protocol.types import Buffer

CONTROL_KEY_VERSION: Final = 0
END_TXN_MARKER_VERSION: Final = 0

_KEY = struct.Struct(">hh")
_MARKER = struct.Struct(">hi")


class ControlType(IntEnum):
    """What a control record announces. A type we do not know is UNKNOWN, and is to be ignored."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6

    @classmethod
    def _missing_(cls, value: object) -> "ControlType | None":
        return cls.UNKNOWN if isinstance(value, int) else None


class EndTxnMarker(NamedTuple):
    """The outcome of a transaction in one partition (KIP-98)."""

    type: ControlType
    coordinator_epoch: int

    @classmethod
    def read(cls, record: Record) -> "EndTxnMarker":
        control_type = read_control_key(record.key)
        if control_type not in (ControlType.ABORT, ControlType.COMMIT):
            raise MalformedError("control record", 0, f"{control_type.name} ends no transaction")
        version, coordinator_epoch = _unpack(_MARKER, record.value, "end transaction marker")
        if version < END_TXN_MARKER_VERSION:
            raise MalformedError("end transaction marker", 0, f"version {version}")
        return cls(control_type, coordinator_epoch)

    def key(self) -> bytes:
        return write_control_key(self.type)

    def value(self) -> bytes:
        return _MARKER.pack(END_TXN_MARKER_VERSION, self.coordinator_epoch)


def read_control_key(key: Buffer | None) -> ControlType:
    """The type in a control record's key; later key versions may append to it."""
    version, type_id = _unpack(_KEY, key, "control key")
    if version < CONTROL_KEY_VERSION:
        raise MalformedError("control key", 0, f"version {version}")
    return ControlType(type_id)


def write_control_key(control_type: ControlType) -> bytes:
    return _KEY.pack(CONTROL_KEY_VERSION, control_type)


def _unpack(layout: struct.Struct, data: Buffer | None, where: str) -> tuple[int, int]:
    if data is None or len(data) < layout.size:
        raise MalformedError(where, 0, "truncated")
    first, second = layout.unpack_from(data)
    return first, second
