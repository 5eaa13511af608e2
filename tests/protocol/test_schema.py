"""Declarations: what a class says of its fields, and how its values behave."""

import pytest

from snakka.protocol.schema import (
    ArrayType,
    Listeners,
    Message,
    Request,
    Struct,
    StructType,
    Versions,
    default_struct,
    fields,
)
from snakka.protocol.schema import field as declared
from snakka.protocol.types import Int32, Number, Scalar, Uuid


class Inner(Struct):
    id: Uuid


class Outer(Request, key=99, versions="1-4", flexible="3+", listeners=Listeners.BOTH, unstable=4):
    name: str
    ids: list[Int32] | None = None
    inner: Inner = declared("2+", ignorable=True)
    note: str | None = declared("3+", default="", nullable="4+", tag=0, flexible=False)


@pytest.mark.parametrize(
    ("text", "first", "last"), [("3", 3, 3), ("0-12", 0, 12), ("2+", 2, 32767), ("none", 0, -1)]
)
def test_a_range_of_versions(text: str, first: int, last: int) -> None:
    assert Versions.parse(text) == (first, last)


def test_a_range_holds_its_ends_and_nothing_beyond() -> None:
    assert [version for version in range(6) if version in Versions.parse("2-4")] == [2, 3, 4]
    assert 0 not in Versions.parse("none")


def test_a_request_knows_its_api() -> None:
    assert Outer.KEY == 99
    assert Outer.VERSIONS == (1, 4)
    assert Outer.STABLE == (1, 3)
    assert Outer.FLEXIBLE == (3, 32767)
    assert Outer.LISTENERS is Listeners.BOTH


def test_fields_are_in_the_order_of_the_wire_with_all_that_was_said() -> None:
    name, ids, inner, note = fields(Outer)
    assert (name.type, name.is_required, name.default) == (Scalar.STRING, True, "")
    assert ids.type == ArrayType(Number("int32", "i", 4))
    assert (ids.default, ids.nullable) == (None, (0, 32767))
    assert inner.type == StructType(Inner)
    assert (inner.versions, inner.is_ignorable) == ((2, 32767), True)
    assert inner.default is default_struct(Inner)
    assert (note.tag, note.nullable, note.is_flexible) == (0, (4, 32767), False)


def test_a_required_field_has_to_be_given() -> None:
    with pytest.raises(TypeError, match="name"):
        Outer()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="nmae"):
        Outer(nmae="x")  # type: ignore[call-arg]


def test_values_are_equal_when_all_fields_are() -> None:
    assert Outer(name="a") == Outer(name="a", inner=Inner(id=Uuid(bytes(16))))
    assert Outer(name="a") != Outer(name="b")
    assert Outer(name="a") != Outer(name="a", unknown_tagged_fields={1: b""})
    assert Outer(name="a") != "a"
    assert Inner(id=Uuid(b"1" * 16)) != Inner(id=Uuid(b"2" * 16))


def test_a_value_shows_its_fields() -> None:
    assert repr(Inner(id=Uuid(b"x"))) == "Inner(id=b'x')"
    shown = repr(Inner(id=Uuid(b"x"), unknown_tagged_fields={1: b"y"}))
    assert shown == "Inner(id=b'x', unknown_tagged_fields={1: b'y'})"


def test_values_have_no_room_for_other_attributes() -> None:
    with pytest.raises(AttributeError):
        Inner(id=Uuid(b"x")).other = 1  # type: ignore[attr-defined]


def test_arrays_of_arrays_are_refused() -> None:
    class Nested(Message, versions="0"):
        rows: list[list[Int32]]

    with pytest.raises(TypeError, match="no arrays of arrays"):
        fields(Nested)
