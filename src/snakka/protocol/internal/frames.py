"""How records of internal topics say what they are, before their fields.

The value of a coordinator's record, consumer protocol data, and a principal start with their
version in two bytes, the key of a coordinator's record with its type. Records of the metadata log
and of the remote log metadata start with three varints: a frame version, their type, their version.
"""

import struct
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Final, NamedTuple, TypeVar

from snakka.protocol.codec import Chunk, decode, encoder
from snakka.protocol.errors import MalformedError, UnsupportedVersionError
from snakka.protocol.internal import (
    classic_groups,
    consumer_groups,
    metadata,
    offsets,
    remote_log,
    share_groups,
    share_state,
    streams_groups,
    transactions,
)
from snakka.protocol.internal.kinds import (
    CoordinatorKey,
    CoordinatorValue,
    MetadataRecord,
    RemoteLogRecord,
)
from snakka.protocol.schema import Message
from snakka.protocol.types import Buffer
from snakka.protocol.wire import UnreadableError, read_uvarint, uvarint

_FRAME_VERSION: Final = 1
_KEY_VERSION: Final = 0  # of every coordinator's key: its first two bytes are a type instead

_PREFIX = struct.Struct(">h")
_M = TypeVar("_M", bound=Message)


class CoordinatorType(NamedTuple):
    """The messages of one type of coordinator record."""

    key: type[CoordinatorKey]
    value: type[CoordinatorValue]


def _declared(base: type[_M], *modules: ModuleType) -> Mapping[int, type[_M]]:
    """The messages of a kind that the modules declare, by their type."""
    found = {
        value.KEY: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value is not base
    }
    return MappingProxyType(found)


def _coordinator_types(*modules: ModuleType) -> Mapping[int, CoordinatorType]:
    values = _declared(CoordinatorValue, *modules)
    keys = _declared(CoordinatorKey, *modules)
    return MappingProxyType({kind: CoordinatorType(keys[kind], values[kind]) for kind in keys})


METADATA_RECORDS: Final = _declared(MetadataRecord, metadata)
REMOTE_LOG_RECORDS: Final = _declared(RemoteLogRecord, remote_log)
GROUP_RECORDS: Final = _coordinator_types(
    offsets, classic_groups, consumer_groups, share_groups, streams_groups
)
TRANSACTION_RECORDS: Final = _coordinator_types(transactions)
SHARE_STATE_RECORDS: Final = _coordinator_types(share_state)


def write_versioned(message: Message, version: int) -> bytes:
    """A message after its version."""
    return _write(message, version, _PREFIX.pack(version))


def read_versioned(message: type[_M], data: Buffer) -> _M:
    """What `write_versioned` wrote."""
    return decode(message, _prefix(message.__name__, data), memoryview(data)[_PREFIX.size :])


def write_key(key: CoordinatorKey) -> bytes:
    """The key of a coordinator's record."""
    return _write(key, _KEY_VERSION, _PREFIX.pack(key.KEY))


def read_coordinator_record(
    types: Mapping[int, CoordinatorType], key: Buffer, value: Buffer | None
) -> tuple[CoordinatorKey, CoordinatorValue | None]:
    """A coordinator's record; one without a value is a tombstone.

    A type that a newer broker wrote raises UnsupportedVersionError.
    """
    kind = _prefix("coordinator key", key)
    if kind not in types:
        raise UnsupportedVersionError(f"unknown type {kind} of coordinator record")
    found = types[kind]
    decoded = decode(found.key, _KEY_VERSION, memoryview(key)[_PREFIX.size :])
    return decoded, None if value is None else read_versioned(found.value, value)


def write_typed(record: MetadataRecord | RemoteLogRecord, version: int) -> bytes:
    """A record of the metadata log or of the remote log metadata."""
    prefix = uvarint(_FRAME_VERSION) + uvarint(record.KEY) + uvarint(version)
    return _write(record, version, prefix)


def read_typed(types: Mapping[int, type[_M]], data: Buffer) -> _M:
    """What `write_typed` wrote, by METADATA_RECORDS or REMOTE_LOG_RECORDS."""
    position = 0
    prefix = []
    try:
        for _ in range(3):
            value, position = read_uvarint(data, position)
            prefix.append(value)
    except (UnreadableError, IndexError):
        raise MalformedError("record frame", position, "bad or truncated varint") from None
    frame_version, kind, version = prefix
    if frame_version != _FRAME_VERSION:
        raise UnsupportedVersionError(f"frame version {frame_version} is not {_FRAME_VERSION}")
    if kind not in types:
        raise UnsupportedVersionError(f"unknown type {kind} of record")
    return decode(types[kind], version, memoryview(data)[position:])


def _write(message: Message, version: int, prefix: bytes) -> bytes:
    chunks: list[Chunk] = []
    return bytes(encoder(type(message), version)(message, bytearray(prefix), chunks))


def _prefix(where: str, data: Buffer) -> int:
    if len(data) < _PREFIX.size:
        raise MalformedError(where, len(data), "truncated")
    prefix: int = _PREFIX.unpack_from(data)[0]
    return prefix
