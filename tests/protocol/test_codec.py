"""The codec on hand-made bytes: every wire type, and what is said of bytes and values refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snakka.protocol.codec import Chunk, decode, decoder, encode, encoder
from snakka.protocol.errors import MalformedError, UnencodableError, UnsupportedVersionError
from snakka.protocol.schema import Message, Struct, field
from snakka.protocol.types import (
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    ServedRecords,
    UInt16,
    UInt32,
    Uuid,
)
from tests.protocol.messages import Values, all_messages, versions

SOME_UUID = Uuid(bytes(range(16)))


class Point(Struct):
    x: Int8
    y: Int8


class Named(Struct):
    name: str
    since: Int32 = field("1+", default=-1)


class Everything(Message, versions="0-3", flexible="2+"):
    flag: bool
    small: Int8
    medium: Int16
    unsigned: UInt16
    number: Int32
    large: UInt32
    long: Int64
    real: Float64
    uuid: Uuid
    text: str
    raw: bytes
    numbers: list[Int32]
    words: list[str]
    points: list[Point]
    origin: Point
    maybe_text: str | None = None
    maybe_point: Point | None = field("3+", default=None)
    old: str = field("0-1")
    ignored: Int32 = field("3+", default=7, ignorable=True)
    tagged: str = field("2+", tag=0)
    tagged_point: Point = field("3+", tag=2)
    records: ServedRecords | None = None


def everything(**changes: object) -> Everything:
    values: dict[str, object] = {
        "flag": True,
        "small": -1,
        "medium": -2,
        "unsigned": 65535,
        "number": -3,
        "large": 2**32 - 1,
        "long": -4,
        "real": 0.5,
        "uuid": SOME_UUID,
        "text": "añ",
        "raw": b"\x00\x01",
        "numbers": [1, -1],
        "words": ["a", ""],
        "points": [Point(x=1, y=2)],
        "origin": Point(x=0, y=0),
    }
    return Everything(**(values | changes))  # type: ignore[arg-type]


FIXED = "01 ff fffe ffff fffffffd ffffffff fffffffffffffffc 3fe0000000000000" + SOME_UUID.hex()


def test_an_old_version_has_wide_lengths_and_no_tags() -> None:
    data = bytes.fromhex(
        f"{FIXED} 0003 61c3b1 00000002 0001 00000002 00000001 ffffffff"
        "00000002 0001 61 0000 00000001 0102 0000 ffff 0001 6f ffffffff"
    )
    value = everything(old="o")
    assert encode(value, 0) == data
    assert decode(Everything, 0, data) == value


def test_a_flexible_version_has_varint_lengths_and_a_tag_section_in_every_struct() -> None:
    data = bytes.fromhex(
        f"{FIXED} 04 61c3b1 03 0001 03 00000001 ffffffff"
        "03 02 61 01 02 0102 00 0000 00 00 00 01 00 02 0274"
    )
    value = everything(tagged="t")
    assert encode(value, 2) == data
    assert decode(Everything, 2, data) == value


def test_the_nullable_struct_is_led_by_a_byte() -> None:
    absent = encode(everything(), 3)
    present = encode(everything(maybe_point=Point(x=5, y=6)), 3)
    assert len(present) == len(absent) + 3
    assert decode(Everything, 3, present).maybe_point == Point(x=5, y=6)
    assert decode(Everything, 3, absent).maybe_point is None


def test_a_tagged_field_with_its_default_takes_no_bytes() -> None:
    default = everything(tagged_point=Point(x=0, y=0))
    assert encode(default, 3) == encode(everything(), 3)


def test_an_ignorable_field_is_left_out_and_any_other_refused() -> None:
    assert encode(everything(ignored=8), 2) == encode(everything(), 2)
    with pytest.raises(UnencodableError, match=r"old: version 2 does not have this"):
        encode(everything(old="o"), 2)


def test_unknown_tagged_fields_survive() -> None:
    value = everything(unknown_tagged_fields={9: b"nine", 1: b""})
    decoded = decode(Everything, 2, encode(value, 2))
    assert decoded.unknown_tagged_fields == {1: b"", 9: b"nine"}
    assert encode(decoded, 2) == encode(value, 2)


def test_absent_fields_have_their_defaults_and_lists_of_their_own() -> None:
    class Lists(Message, versions="0-1", flexible="none"):
        first: list[Int32] = field("1+")

    one, other = decode(Lists, 0, b""), decode(Lists, 0, b"")
    assert one.first == [] == other.first
    assert one.first is not other.first
    assert Lists().first is not Lists().first


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("small", 128, "-128 <= number <= 127"),
        ("unsigned", -1, "out of range|0 <= number"),
        ("number", "3", "required argument is not an integer"),
        ("number", None, "required argument is not an integer"),
        ("text", None, "wrong type"),
        ("text", "x" * 32768, "a string of 32768 bytes"),
        ("text", "\ud800", "surrogates not allowed"),
        ("uuid", b"short", "a UUID has 16 bytes"),
        ("numbers", None, "wrong type"),
        ("numbers", [2**31], "number"),
        ("numbers", [1] * 50 + [2**31], "number"),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_a_value_out_of_range_names_its_field(
    name: str, value: object, reason: str, version: int
) -> None:
    with pytest.raises(UnencodableError, match=reason) as refused:
        encode(everything(**{name: value}), version)
    assert refused.value.where == f"Everything.{name}"


def test_a_field_of_a_nested_struct_is_named_by_its_path() -> None:
    with pytest.raises(UnencodableError) as refused:
        encode(everything(points=[Point(x=1, y=1), Point(x=1, y=300)]), 1)
    assert refused.value.where == "Everything.points.y"


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(UnsupportedVersionError, match="versions 0 to 3, not 4"):
        encode(everything(), 4)
    with pytest.raises(UnsupportedVersionError, match="versions 0 to 3, not -1"):
        decode(Everything, -1, b"")


@pytest.mark.parametrize("version", range(4))
def test_a_frame_cut_anywhere_is_malformed_and_the_offset_lies_in_it(version: int) -> None:
    data = encode(everything(words=["a"] * 200, numbers=list(range(100))), version)
    for size in range(len(data)):
        with pytest.raises(MalformedError) as refused:
            decode(Everything, version, data[:size])
        assert refused.value.offset <= size
        assert refused.value.where.startswith("Everything")


def test_trailing_bytes_are_refused() -> None:
    data = encode(everything(), 1)
    with pytest.raises(MalformedError, match="1 bytes too many") as refused:
        decode(Everything, 1, data + b"\0")
    assert refused.value.offset == len(data)


@pytest.mark.parametrize(
    ("hostile", "where", "offset", "reason"),
    [
        ("00", "text", 1, "null"),
        ("ffffffff0f", "text", 5, "a length of 4294967294, but"),
        ("ffffffffffffff7f", "text", 1, "varint of more than 32 bits"),
        ("8080808010", "text", 1, "varint of more than 32 bits"),
        ("03 c328", "text", 1, "invalid continuation byte"),
        ("01 00", "raw", 2, "null"),
        ("01 01 00", "numbers", 3, "null"),
        ("01 01 ffff7f", "numbers", 5, "2097150 elements, more than 1000000"),
        ("01 01 ff7f", "numbers", 4, "16382 elements in the"),
        ("01 01 01 ff01", "words", 5, "254 elements in the"),
    ],
)
def test_hostile_lengths_are_refused_where_they_stand(
    hostile: str, where: str, offset: int, reason: str
) -> None:
    data = bytes.fromhex(FIXED) + bytes.fromhex(hostile)
    with pytest.raises(MalformedError, match=reason) as refused:
        decode(Everything, 2, data)
    assert refused.value.where == f"Everything.{where}"
    assert refused.value.offset == len(bytes.fromhex(FIXED)) + offset


@pytest.mark.parametrize("length", ["ffffffff", "fffffffe", "80000000"])
def test_a_negative_length_is_refused_where_null_is_not_allowed(length: str) -> None:
    data = bytes.fromhex(FIXED) + b"\0\0" + bytes.fromhex(length)
    with pytest.raises(MalformedError, match=r"null|a length of -") as refused:
        decode(Everything, 1, data)
    assert refused.value.where == "Everything.raw"


class Tagged(Message, versions="0", flexible="0+"):
    known: Int32 = field(default=0, tag=1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("02 05 00 05 00", "tag 5 after tag 5"),
        ("02 05 00 04 00", "tag 4 after tag 5"),
        ("01 05 09 00", "a length of 9, but 1 bytes are left"),
        ("01 01 03 000000", "truncated|another size"),
        ("01 01 05 0000000000", "another size than it says"),
        ("914e", "10001 tagged fields, more than 10000"),
        ("01", "truncated"),
    ],
)
def test_hostile_tagged_fields_are_refused(data: str, reason: str) -> None:
    with pytest.raises(MalformedError, match=reason):
        decode(Tagged, 0, bytes.fromhex(data))


class Flat(Message, versions="0-1", flexible="1+"):
    points: list[Point]


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 200])
def test_arrays_of_flat_structs_of_any_count(version: int, count: int) -> None:
    value = Flat(points=[Point(x=i % 100, y=-(i % 100)) for i in range(count)])
    assert decode(Flat, version, encode(value, version)) == value


def test_tagged_fields_in_the_middle_of_an_array_of_flat_structs() -> None:
    points = [Point(x=i, y=i) for i in range(9)]
    points[5] = Point(x=5, y=5, unknown_tagged_fields={3: b"three"})
    value = Flat(points=points)
    decoded = decode(Flat, 1, encode(value, 1))
    assert decoded == value
    assert decoded.points[5].unknown_tagged_fields == {3: b"three"}


class FileRange:
    """Stands for a range of a segment file."""

    def __len__(self) -> int:
        return 1000


def test_records_that_are_not_in_memory_are_handed_on_untouched() -> None:
    records = FileRange()
    chunks: list[Chunk] = []
    rest = encoder(Everything, 1)(everything(records=records), bytearray(b"head"), chunks)
    head, handed_on = chunks
    assert handed_on is records
    assert isinstance(head, bytearray)
    assert head.startswith(b"head")
    assert head.endswith((1000).to_bytes(4))
    assert rest == b""
    with pytest.raises(UnencodableError, match="not in memory"):
        encode(everything(records=records), 1)


def test_decoded_records_are_a_view_of_the_frame() -> None:
    frame = bytearray(encode(everything(records=b"batch"), 1))
    records = decode(Everything, 1, frame).records
    assert isinstance(records, memoryview)
    frame[-5:] = b"BATCH"
    assert bytes(records) == b"BATCH"


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_any_buffer_can_be_decoded(wrap: type) -> None:
    value = everything(records=b"batch")
    assert decode(Everything, 2, wrap(bytes(encode(value, 2)))) == value
    assert decode(Flat, 1, wrap(b"\x01\x00")) == Flat(points=[])


def test_a_prefix_is_decoded_from_anywhere() -> None:
    data = b"xx" + encode(Flat(points=[]), 1) + b"yy"
    assert decoder(Flat, 1)(data, 2) == (Flat(points=[]), 4)


@pytest.mark.parametrize("message", all_messages(), ids=lambda each: each.__name__)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_every_version_of_every_message_survives(
    message: type[Message], data: st.DataObject
) -> None:
    for version in versions(message):
        value = data.draw(Values().message(message, version))
        assert decode(message, version, encode(value, version)) == value
