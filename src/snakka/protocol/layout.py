"""How wire types lie in a frame: what decoder.py and encoder.py both go by."""

from functools import cache
from struct import Struct as Layout
from struct import calcsize
from typing import Final

from snakka.protocol.schema import ArrayType, Field, Struct, StructType, WireType, fields
from snakka.protocol.types import Number, Scalar

SMALL_ARRAY: Final = 32  # arrays of fewer numbers are read and written by layouts made before

_FIXED_SCALARS: Final = {Scalar.BOOL: "?", Scalar.UUID: "16s"}


def fixed_letter(kind: WireType) -> str | None:
    """The `struct` format of a type of fixed width."""
    if isinstance(kind, Number):
        return kind.letter
    return _FIXED_SCALARS.get(kind) if isinstance(kind, Scalar) else None


def length_letter(kind: WireType, is_flexible: bool) -> str:
    """The format of the length before a value; of a varint, its first byte."""
    if is_flexible:
        return "B"
    return "h" if kind is Scalar.STRING else "i"


def untagged(struct: type[Struct], version: int) -> list[Field]:
    """The fields that every struct of this version has, in the order of the wire."""
    return [each for each in fields(struct) if version in each.versions and each.tag is None]


@cache
def size_min(struct: type[Struct], version: int, is_flexible: bool) -> int:
    """The fewest bytes that a struct takes: what bounds how many of them a frame can hold."""
    return int(is_flexible) + sum(
        1  # of a nullable struct, the byte that says whether it is there
        if isinstance(each.type, StructType) and version in each.nullable
        else element_size_min(each.type, version, is_flexible and each.is_flexible)
        for each in untagged(struct, version)
    )


def element_size_min(kind: WireType, version: int, is_flexible: bool) -> int:
    """The fewest bytes that a value takes."""
    if isinstance(kind, StructType):
        return size_min(kind.struct, version, is_flexible)
    return calcsize(">" + (fixed_letter(kind) or length_letter(kind, is_flexible)))


def is_flat(struct: type[Struct], version: int) -> bool:
    """Whether all of its fields have a fixed width."""
    return all(fixed_letter(each.type) is not None for each in untagged(struct, version))


def holds_records(struct: type[Struct]) -> bool:
    """Whether a frame of this may be large, so that it is not to be copied."""
    return any(_is_records(each.type) for each in fields(struct))


def _is_records(kind: WireType) -> bool:
    match kind:
        case ArrayType():
            return _is_records(kind.element)
        case StructType():
            return holds_records(kind.struct)
        case _:
            return kind is Scalar.RECORDS


@cache
def small_arrays(letter: str, prefix: str = "") -> list[Layout]:
    """The layouts of arrays of numbers by their count, after a length in format `prefix`."""
    return [Layout(f">{prefix}{count}{letter}") for count in range(SMALL_ARRAY)]
