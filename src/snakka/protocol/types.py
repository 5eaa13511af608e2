"""The wire types of Kafka's protocol, as a declaration writes them.

`str`, `bytes`, `bool` and `Uuid` stand for themselves; integers and floats say their width. A
nullable field is a union with None, an array a list, a nested struct its class.
"""

import base64
from collections.abc import Sized
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Annotated, Final, NewType, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

# The 16 bytes as they travel: topic ids are dictionary keys on the hot path.
Uuid = NewType("Uuid", bytes)
ZERO_UUID: Final = Uuid(bytes(16))
ONE_UUID: Final = Uuid(bytes(15) + b"\x01")  # names the metadata topic, never to be drawn

_UUID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Number:
    """A fixed-width number: its name in Kafka's schemas and its letter in `struct`."""

    name: str
    letter: str
    size_bytes: int


class Scalar(Enum):
    """The other types that hold no further ones. RECORDS pass through without a look."""

    BOOL = "bool"
    STRING = "string"
    BYTES = "bytes"
    UUID = "uuid"
    RECORDS = "records"


Int8 = Annotated[int, Number("int8", "b", 1)]
Int16 = Annotated[int, Number("int16", "h", 2)]
UInt16 = Annotated[int, Number("uint16", "H", 2)]
Int32 = Annotated[int, Number("int32", "i", 4)]
UInt32 = Annotated[int, Number("uint32", "I", 4)]
Int64 = Annotated[int, Number("int64", "q", 8)]
Float64 = Annotated[float, Number("float64", "d", 8)]

# Decoded records are a view of the frame. A response may also name records by anything that has a
# length, such as a range of a file: `encode_chunks` hands it on untouched for sendfile.
Records = Annotated[Buffer, Scalar.RECORDS]
ServedRecords = Annotated[Buffer | Sized, Scalar.RECORDS]


def random_uuid(random: Random) -> Uuid:
    """A version 4 UUID whose text does not start with a dash, which tools take for an option."""
    while True:
        drawn = bytearray(random.randbytes(_UUID_BYTES))
        drawn[6] = drawn[6] & 0x0F | 0x40
        drawn[8] = drawn[8] & 0x3F | 0x80
        uuid = Uuid(bytes(drawn))
        if not format_uuid(uuid).startswith("-"):
            return uuid


def format_uuid(uuid: Uuid) -> str:
    """Kafka's text form: URL-safe base64 without padding, 22 characters."""
    return base64.urlsafe_b64encode(uuid).rstrip(b"=").decode()


def parse_uuid(text: str) -> Uuid:
    """The UUID of Kafka's text form; ValueError when `text` is none."""
    try:
        raw = base64.b64decode(text.rstrip("=") + "==", altchars=b"-_", validate=True)
    except ValueError:
        raw = b""
    if len(raw) != _UUID_BYTES:
        raise ValueError(f"{text!r} is not a UUID: 22 characters of URL-safe base64 are")
    return Uuid(raw)
