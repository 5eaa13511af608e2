"""Whatever the bytes: a value that survives a round trip, or MalformedError, in bounded memory.

Every message in every version is decoded from mutants of valid frames. The same frames are drawn in
every run; SNAKKA_FUZZ_RANDOM=1 draws others, SNAKKA_FUZZ_FRAMES=5000000 draws more of them. A
failure ends with the call that replays it.

Memory: decoding takes at most MEMORY_PER_BYTE bytes for each byte of the frame. The worst there is
is a struct of one short field and one unknown tagged field: 4 bytes that become a struct, a dict
and their place in a list, some 80 bytes for each byte.
"""

import os
import signal
import struct
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from math import ceil
from random import Random
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from snakka.protocol.codec import decode, decoder, encode
from snakka.protocol.errors import MalformedError
from snakka.protocol.limits import ARRAY_ELEMENTS_MAX, TAGGED_FIELDS_MAX
from snakka.protocol.schema import (
    NO_TAGGED_FIELDS,
    ArrayType,
    Field,
    Message,
    Struct,
    StructType,
    WireType,
    field,
    fields,
    zero,
)
from snakka.protocol.types import Buffer, Int8, Int16
from snakka.protocol.wire import uvarint
from tests.protocol.messages import Values, all_messages, versions

FRAMES: Final = int(os.environ.get("SNAKKA_FUZZ_FRAMES", "200000"))
IS_RANDOM: Final = "SNAKKA_FUZZ_RANDOM" in os.environ
FRAMES_PER_VERSION: Final = ceil(FRAMES / sum(len(versions(each)) for each in all_messages()))
MUTANTS: Final = 100  # of each value
VALUES: Final = max(4, ceil(FRAMES_PER_VERSION / MUTANTS))  # the first is always the empty one
MUTANT_BYTES_MAX: Final = 1 << 14
PARENTS_MAX: Final = 16
FRAMES_PER_MEASURED: Final = 10

MEMORY_PER_BYTE: Final = 100
MEMORY_PER_FRAME: Final = 1 << 13  # tracebacks and the like
FILLED_BYTES: Final = 1 << 10
HANG_CPU_S: Final = 5.0

LENGTHS: Final = (
    *(number.to_bytes(size) for size in (1, 2, 4) for number in (0, 1, 1 << 8 * size - 1)),
    *(b"\x7f" + b"\xff" * more for more in (0, 1, 3)),
    *(b"\xff" * size for size in (1, 2, 4, 5, 10)),
    *(b"\xff" * size + last for size in (1, 2, 3, 4, 9) for last in (b"\x00", b"\x01", b"\x0f")),
    *(struct.pack(">i", ARRAY_ELEMENTS_MAX + more) for more in (0, 1)),
    *(uvarint(ARRAY_ELEMENTS_MAX + more) for more in (1, 2)),
    *(uvarint(TAGGED_FIELDS_MAX + more) for more in (0, 1)),
    *(uvarint(1 << bits) for bits in (14, 31, 32, 35)),
)

Mutation: TypeAlias = Callable[[bytes, bytes, Random], bytes]

each_message = pytest.mark.parametrize("message", all_messages(), ids=lambda each: each.__name__)


@pytest.fixture(autouse=True)
def _watchdog() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"decoding takes more than {HANG_CPU_S} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


def find_value(message: type[Message], version: int, frame: Buffer) -> Message | None:
    """The value of a frame, None when it was refused as it should be."""
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_CPU_S)
    try:
        return decode(message, version, frame)
    except MalformedError as error:
        if not (0 <= error.offset <= len(frame) and error.where.startswith(message.__name__)):
            raise AssertionError(f"refused at a place that is none: {error}") from error
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def check(
    message: type[Message], version: int, frame: bytes, buffer: Callable[..., Buffer]
) -> bool:
    """Whether the frame has a value, which has to survive a round trip."""
    try:
        value = find_value(message, version, buffer(frame))
        if value is None:
            return False
        encoded = encode(value, version)
        assert len(encoded) <= len(frame)  # or some bytes were read twice
        again = decode(message, version, encoded)
        if again != value:  # as a NaN is not even equal to itself
            assert decode(message, version, frame) != value
            assert encode(again, version) == encoded
    except Exception as error:
        error.add_note(replay(message, version, frame))
        raise
    return True


def replay(message: type[Message], version: int, frame: bytes) -> str:
    where = f"{message.__module__}.{message.__name__}"
    return f"replay: decode({where}, {version}, bytes.fromhex({frame.hex()!r}))"


def check_memory(message: type[Message], version: int, frame: bytes) -> None:
    decoder(message, version)  # compiled once, whatever the frames
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    value = find_value(message, version, frame)
    peak = tracemalloc.get_traced_memory()[1] - before
    del value
    if peak > MEMORY_PER_BYTE * len(frame) + MEMORY_PER_FRAME:
        call = replay(message, version, frame)
        pytest.fail(f"{peak} bytes of memory for a frame of {len(frame)}; {call}")


@pytest.fixture
def _traced_memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def flip_bits(frame: bytes, _: bytes, random: Random) -> bytes:
    out = bytearray(frame)
    for _bit in range(random.randint(1, 4) if out else 0):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def truncate(frame: bytes, _: bytes, random: Random) -> bytes:
    return frame[: random.randint(0, len(frame))]


def insert(frame: bytes, _: bytes, random: Random) -> bytes:
    at = random.randint(0, len(frame))
    return frame[:at] + random.randbytes(random.randint(1, 8)) + frame[at:]


def remove(frame: bytes, _: bytes, random: Random) -> bytes:
    at = random.randint(0, len(frame))
    return frame[:at] + frame[at + random.randint(1, 8) :]


def splice(frame: bytes, other: bytes, random: Random) -> bytes:
    return frame[: random.randint(0, len(frame))] + other[random.randint(0, len(other)) :]


def overwrite_length(frame: bytes, _: bytes, random: Random) -> bytes:
    at, length = random.randint(0, len(frame)), random.choice(LENGTHS)
    return frame[:at] + length + frame[at + len(length) :]


def insert_length(frame: bytes, _: bytes, random: Random) -> bytes:
    at = random.randint(0, len(frame))
    return frame[:at] + random.choice(LENGTHS) + frame[at + 1 :]


def repeat_slice(frame: bytes, _: bytes, random: Random) -> bytes:
    start = random.randint(0, len(frame))
    end = start + random.randint(1, 32)
    return frame[:end] + frame[start:end] * random.choice((1, 2, 7, 100)) + frame[end:]


MUTATIONS: Final[tuple[Mutation, ...]] = (
    flip_bits,
    truncate,
    insert,
    remove,
    splice,
    overwrite_length,
    insert_length,
    repeat_slice,
)


def mutants(frame: bytes, random: Random, is_valid: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Mutants of the frame, and of those of its mutants that are valid too."""
    parents = [frame]
    for _ in range(MUTANTS):
        mutant = random.choice(parents)
        for mutate in random.choices(MUTATIONS, k=random.choice((1, 1, 2, 4))):
            mutant = mutate(mutant, random.choice(parents), random)[:MUTANT_BYTES_MAX]
        if is_valid(mutant):
            parents = [frame, *parents[-PARENTS_MAX:], mutant]
        yield mutant


def fuzz(message: type[Message], version: int) -> list[bytes]:
    """Checks mutants of values of one version, and returns them."""
    frames: list[bytes] = []

    @settings(
        max_examples=VALUES,
        derandomize=not IS_RANDOM,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(Values().message(message, version), st.integers(0, 1 << 64))
    def run(value: Message, seed: int) -> None:
        random = Random(seed)
        buffer = random.choice((bytes, bytearray, memoryview))
        frame = bytes(encode(value, version))
        assert check(message, version, frame, buffer)
        frames.extend(
            mutants(frame, random, lambda mutant: check(message, version, mutant, buffer))
        )

    run()
    return frames


@each_message
def test_mutants_are_refused_or_survive_a_round_trip(message: type[Message]) -> None:
    for version in versions(message):
        frames = fuzz(message, version)
        assert len(frames) >= FRAMES_PER_VERSION
        tracemalloc.start()
        for frame in frames[::FRAMES_PER_MEASURED]:
            check_memory(message, version, frame)
        tracemalloc.stop()


def array_paths(within: type[Struct], version: int) -> Iterator[tuple[Field, ...]]:
    """The fields that lead to each array there is."""
    for each in fields(within):
        if version not in each.versions:
            continue
        kind = each.type
        if isinstance(kind, ArrayType):
            yield (each,)
            kind = kind.element
        if isinstance(kind, StructType):
            yield from ((each, *rest) for rest in array_paths(kind.struct, version))


def smallest(
    kind: WireType, version: int, elements: int, tagged: Mapping[int, bytes] = NO_TAGGED_FIELDS
) -> Any:
    """What takes the fewest bytes, its arrays with so many elements, its structs `tagged`."""
    match kind:
        case ArrayType():
            return [smallest(kind.element, version, elements, tagged)] * elements
        case StructType():
            values = {
                each.name: smallest(each.type, version, elements, tagged)
                for each in fields(kind.struct)
                if version in each.versions and each.tag is None
            }
            return kind.struct(**values, unknown_tagged_fields=tagged)
        case _:
            return zero(kind)


def with_array(
    within: type[Struct], version: int, path: tuple[Field, ...], array: list[Any]
) -> Any:
    """The smallest struct that holds `array` at the end of `path`."""
    first, *rest = path
    value: Any = array
    if rest:
        inner = first.type.element if isinstance(first.type, ArrayType) else first.type
        assert isinstance(inner, StructType)
        value = with_array(inner.struct, version, tuple(rest), array)
        value = [value] if isinstance(first.type, ArrayType) else value
    holder = smallest(StructType(within), version, 0)
    setattr(holder, first.name, value)
    return holder


def small_elements(kind: WireType, version: int, is_flexible: bool) -> Iterator[Any]:
    """Elements that take little of a frame and much memory."""
    tags = (NO_TAGGED_FIELDS, {127: b""}) if is_flexible else (NO_TAGGED_FIELDS,)
    if isinstance(kind, StructType):
        yield from (smallest(kind, version, size, tagged) for tagged in tags for size in (0, 1))
    else:
        yield zero(kind)


def filled_frames(message: type[Message], version: int, path: tuple[Field, ...]) -> Iterator[bytes]:
    """Frames full of elements of the array at the end of `path`."""

    def frame(array: list[Any]) -> bytes:
        return bytes(encode(with_array(message, version, path, array), version))

    assert isinstance(path[-1].type, ArrayType)
    for element in small_elements(path[-1].type.element, version, version in message.FLEXIBLE):
        element_bytes = len(frame([element])) - len(frame([]))
        yield frame([element] * (FILLED_BYTES // element_bytes))


@each_message
@pytest.mark.usefixtures("_traced_memory")
def test_arrays_that_fill_the_frame_take_bounded_memory(message: type[Message]) -> None:
    for version in versions(message):
        for path in array_paths(message, version):
            for frame in filled_frames(message, version, path):
                check_memory(message, version, frame)


@each_message
@pytest.mark.usefixtures("_traced_memory")
def test_counts_beyond_what_is_there_take_bounded_memory(message: type[Message]) -> None:
    for version in versions(message):
        is_flexible = version in message.FLEXIBLE
        frame = bytes(encode(smallest(StructType(message), version, 1), version))
        for count in (FILLED_BYTES // 2, ARRAY_ELEMENTS_MAX, (1 << 31) - 1):
            claim = uvarint(count + 1) if is_flexible else struct.pack(">i", count)
            # Of such bytes are the smallest elements made: of empty strings and empty arrays.
            padding = bytes([is_flexible]) * FILLED_BYTES
            for at in range(len(frame)):
                check_memory(message, version, frame[:at] + claim + padding)


class Flat(Struct):
    number: Int8


class Named(Struct):
    name: str


class Numbers(Message, versions="0-1", flexible="1+"):
    elements: list[Int16]


class Strings(Message, versions="0-1", flexible="1+"):
    elements: list[str]


class FlatStructs(Message, versions="0-1", flexible="1+"):
    elements: list[Flat]


class NamedStructs(Message, versions="0-1", flexible="1+"):
    elements: list[Named]


class KnownTag(Message, versions="0", flexible="0+"):
    known: Int8 = field(tag=0)


class NoKnownTag(Message, versions="0", flexible="0+"):
    pass


@pytest.mark.parametrize(
    ("message", "version", "element"),
    [
        (Numbers, 0, b"\1\2"),
        (Numbers, 1, b"\1\2"),
        (Strings, 0, b"\0\0"),
        (Strings, 1, b"\1"),
        (FlatStructs, 0, b"\7"),
        (FlatStructs, 1, b"\7\0"),
        (NamedStructs, 0, b"\0\0"),
        (NamedStructs, 1, b"\1\0"),
    ],
)
def test_a_million_elements_are_the_most(message: Any, version: int, element: bytes) -> None:
    def frame(count: int) -> bytes:
        if version == 0:
            return struct.pack(">i", count) + element * count
        return uvarint(count + 1) + element * count + b"\0"

    most = decode(message, version, frame(ARRAY_ELEMENTS_MAX))
    assert len(most.elements) == ARRAY_ELEMENTS_MAX == 1_000_000
    with pytest.raises(MalformedError, match="1000001 elements, more than 1000000"):
        decode(message, version, frame(ARRAY_ELEMENTS_MAX + 1))


@pytest.mark.parametrize("message", [KnownTag, NoKnownTag])
def test_ten_thousand_tagged_fields_are_the_most(message: type[Message]) -> None:
    def frame(count: int) -> bytes:
        return uvarint(count) + b"".join(uvarint(tag) + b"\0" for tag in range(1, count + 1))

    most = decode(message, 0, frame(TAGGED_FIELDS_MAX))
    assert len(most.unknown_tagged_fields) == TAGGED_FIELDS_MAX == 10_000
    with pytest.raises(MalformedError, match="10001 tagged fields, more than 10000"):
        decode(message, 0, frame(TAGGED_FIELDS_MAX + 1))
