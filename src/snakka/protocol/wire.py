"""What compiled decoders and encoders call where the common case does not hold.

The common case (a length of one byte, no tagged fields) is inlined where it is needed.
Not here: the compilers (decoder.py, encoder.py).
"""

from collections.abc import Mapping
from typing import Final

from snakka.protocol.limits import ARRAY_ELEMENTS_MAX, STRING_BYTES_MAX, TAGGED_FIELDS_MAX
from snakka.protocol.schema import NO_TAGGED_FIELDS
from snakka.protocol.types import Buffer

_UVARINT_BITS: Final = 32


class UnreadableError(Exception):
    """Why bytes cannot be read; the codec adds where."""


class UnwritableError(Exception):
    """Why a value cannot be written; the codec adds where."""


def read_more(data: Buffer, position: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned varint whose `first` byte says that more follow."""
    value = first & 127
    for shift in range(7, _UVARINT_BITS, 7):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> _UVARINT_BITS:
                break
            return value, position
    raise UnreadableError("a varint of more than 32 bits")


def read_uvarint(data: Buffer, position: int) -> tuple[int, int]:
    first = data[position]
    if first < 128:
        return first, position + 1
    return read_more(data, position + 1, first)


def bad_length(length: int, left: int) -> UnreadableError:
    """Why `length` bytes or elements cannot be, where `left` bytes are left."""
    if length < 0:
        return UnreadableError("null" if length == -1 else f"a length of {length}")
    if length > left:
        return UnreadableError(f"a length of {length}, but {left} bytes are left")
    return UnreadableError(f"a string of {length} bytes, more than {STRING_BYTES_MAX}")


def bad_count(count: int, left: int) -> UnreadableError:
    """Why an array cannot have `count` elements, where `left` bytes are left."""
    if count > ARRAY_ELEMENTS_MAX:
        return UnreadableError(f"{count} elements, more than {ARRAY_ELEMENTS_MAX}")
    return UnreadableError(f"{count} elements in the {left} bytes left")


def read_tag_count(data: Buffer, position: int, first: int) -> tuple[int, int]:
    """How many tagged fields follow, of which the first byte has been read."""
    if first > 127:
        first, position = read_more(data, position, first)
    if first > TAGGED_FIELDS_MAX:
        raise UnreadableError(f"{first} tagged fields, more than {TAGGED_FIELDS_MAX}")
    return first, position


def read_tag(data: Buffer, position: int, previous: int) -> tuple[int, int, int]:
    """A tagged field's tag, where its value starts and where it ends."""
    tag, position = read_uvarint(data, position)
    size, position = read_uvarint(data, position)
    if tag <= previous:
        raise UnreadableError(f"tag {tag} after tag {previous}")
    if size > len(data) - position:
        raise bad_length(size, len(data) - position)
    return tag, position, position + size


def read_unknown_tags(data: Buffer, position: int, first: int) -> tuple[Mapping[int, bytes], int]:
    """All tagged fields of a struct that knows none."""
    count, position = read_tag_count(data, position, first)
    unknown = {}
    tag = -1
    for _ in range(count):
        tag, start, position = read_tag(data, position, tag)
        unknown[tag] = bytes(data[start:position])
    return unknown or NO_TAGGED_FIELDS, position


def uvarint(value: int) -> bytes:
    """An unsigned varint, as flexible versions have for lengths and tags."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


SMALL_UVARINTS: Final = tuple(uvarint(value) for value in range(1 << 12))


def append_tags(out: bytearray, tagged: Mapping[int, Buffer]) -> None:
    """The tagged fields of a struct, in the order that the protocol demands."""
    out += uvarint(len(tagged))
    for tag in sorted(tagged):
        value = tagged[tag]
        out += uvarint(tag)
        out += uvarint(len(value))
        out += value
