"""Compiles the decoder of one message in one version.

The compiled function is a straight walk over the bytes. Neighbouring fields of fixed width, and the
first byte of the length that follows them, are read by one `struct` call. Every length is held
against the bytes that are left before anything is made of it. What fails raises one of
DECODE_ERRORS; the codec turns it into a MalformedError that names the field.

In the compiled code `p` is the position, `end` the length of `data`, `n` the length just read.
"""

import struct
from collections.abc import Callable
from itertools import repeat
from struct import calcsize
from typing import Any, Final

from snakka.protocol.layout import (
    SMALL_ARRAY,
    element_size_min,
    fixed_letter,
    holds_records,
    is_flat,
    length_letter,
    size_min,
    small_arrays,
    untagged,
)
from snakka.protocol.limits import ARRAY_ELEMENTS_MAX, STRING_BYTES_MAX
from snakka.protocol.schema import (
    NO_TAGGED_FIELDS,
    ArrayType,
    Field,
    Struct,
    StructType,
    WireType,
    fields,
)
from snakka.protocol.source import Origins, Part, Source
from snakka.protocol.types import Number, Scalar
from snakka.protocol.wire import (
    UnreadableError,
    bad_count,
    bad_length,
    read_more,
    read_tag,
    read_tag_count,
    read_unknown_tags,
)

DECODE_ERRORS: Final = (UnreadableError, IndexError, UnicodeDecodeError, struct.error)

_FLAT_ARRAY_MIN: Final = 4  # from here on an array of flat structs is read by iter_unpack


class DecoderCompiler:
    """Emits the source that reads one version of a message."""

    def __init__(self, message: type[Struct], version: int, is_flexible: bool) -> None:
        self._message = message
        self._version = version
        self._is_flexible = is_flexible
        self._holds_records = holds_records(message)
        self._run: list[Part] = []  # what the next flush reads
        self._source = Source("def decode(data, p):", message.__name__)
        self._source.constants |= {
            "new": object.__new__,
            "repeat": repeat,
            "bad_count": bad_count,
            "bad_length": bad_length,
            "UnreadableError": UnreadableError,
            "read_more": read_more,
            "read_tag": read_tag,
            "read_tag_count": read_tag_count,
            "read_unknown_tags": read_unknown_tags,
            "NO_TAGS": NO_TAGGED_FIELDS,
        }

    def compile(self) -> tuple[Callable[..., Any], Origins]:
        source = self._source
        source.line("view = memoryview(data)" if self._holds_records else "data = bytes(data)")
        source.line("end = len(data)")
        self._struct(self._message, "m")
        self._flush()
        source.line("return m, p")
        return source.compile("decode")

    def _gather(self, target: str, letter: str) -> None:
        self._run.append(Part(target, letter, self._source.place))

    def _flush(self) -> None:
        """Reads what has been gathered."""
        if not self._run:
            return
        run, self._run = self._run, []
        letters = "".join(part.letter for part in run)
        targets = ", ".join(part.expression for part in run)
        if letters == "B":
            self._source.line(f"{targets} = data[p]")
        else:
            unpack = self._source.layout(letters, "unpack_from")
            self._source.line(f"({targets},) = {unpack}(data, p)", run)
        self._source.line(f"p += {calcsize('>' + letters)}")

    def _struct(self, struct: type[Struct], variable: str) -> None:
        self._source.line(f"{variable} = new({self._source.constant('Type', struct)})")
        self._set_defaults(struct, variable)
        for each in untagged(struct, self._version):
            with self._source.at(each.name):
                self._field(each, f"{variable}.{each.name}")
        if self._is_flexible:
            self._tagged_fields(self._known_tags(struct), variable)
        else:
            self._source.line(f"{variable}.unknown_tagged_fields = NO_TAGS")

    def _known_tags(self, struct: type[Struct]) -> list[Field]:
        return [
            each
            for each in fields(struct)
            if each.tag is not None and self._version in each.versions
        ]

    def _set_defaults(self, struct: type[Struct], variable: str) -> None:
        """Of the fields that this version lacks, and of those that it may leave out."""
        for each in fields(struct):
            if self._version in each.versions and each.tag is None:
                continue
            if each.default == [] or each.default is None or isinstance(each.default, int | str):
                value = repr(each.default)
            else:
                value = self._source.constant("default", each.default)
            self._source.line(f"{variable}.{each.name} = {value}")

    def _field(self, each: Field, target: str) -> None:
        is_nullable = self._version in each.nullable
        if isinstance(each.type, StructType) and is_nullable:
            self._nullable_struct(each.type, target)
        else:
            self._value(each.type, target, is_nullable, self._is_flexible and each.is_flexible)

    def _nullable_struct(self, kind: StructType, target: str) -> None:
        self._gather("n", "b")
        self._flush()
        self._source.line("if n < 0:")
        self._source.line(f"    {target} = None")
        with self._source.block("else:"):
            self._value(kind, target, is_nullable=False, is_flexible=self._is_flexible)
            self._flush()

    def _value(self, kind: WireType, target: str, is_nullable: bool, is_flexible: bool) -> None:
        letter = fixed_letter(kind)
        if letter is not None:
            self._gather(target, letter)
        elif isinstance(kind, StructType):
            variable = self._source.name("s")
            self._struct(kind.struct, variable)
            self._source.line(f"{target} = {variable}")
        else:
            self._length(kind, is_flexible)
            self._sized(kind, target, is_nullable, is_flexible)

    def _length(self, kind: WireType, is_flexible: bool) -> None:
        """Reads the length into `n`, -1 for null."""
        source = self._source
        self._gather("n", length_letter(kind, is_flexible))
        self._flush()
        if not is_flexible:
            return
        with source.block("if n > 127:"):
            if kind in (Scalar.BYTES, Scalar.RECORDS):  # which are seldom short
                source.line("b = data[p]")
                source.line("if b < 128:")
                source.line("    n = n & 127 | b << 7")
                source.line("    p += 1")
                source.line("else:")
                source.line("    n, p = read_more(data, p, n)")
            else:
                source.line("n, p = read_more(data, p, n)")
        source.line("n -= 1")

    def _sized(self, kind: WireType, target: str, is_nullable: bool, is_flexible: bool) -> None:
        """A value of `n` bytes or elements."""
        if not is_nullable:
            self._content(kind, target, is_flexible)
            return
        self._source.line("if n == -1:")
        self._source.line(f"    {target} = None")
        with self._source.block("else:"):
            self._content(kind, target, is_flexible)

    def _content(self, kind: WireType, target: str, is_flexible: bool) -> None:
        match kind:
            case Scalar.STRING:
                text = "str(data[p:e], 'utf-8')" if self._holds_records else "data[p:e].decode()"
                self._bytes(target, text, f"not 0 <= n <= {STRING_BYTES_MAX}")
            case Scalar.BYTES:
                self._bytes(target, "bytes(data[p:e])", "n < 0")
            case Scalar.RECORDS:
                self._bytes(target, "view[p:e]", "n < 0")
            case ArrayType(Number() as element):
                self._numbers(element, target)
            case ArrayType(StructType(element)) if is_flat(element, self._version):
                self._flat_array(element, target)
            case ArrayType(element):
                self._check_count(element_size_min(element, self._version, is_flexible))
                elements = self._source.name("a")
                self._source.line(f"{target} = {elements} = []")
                self._elements(element, elements, is_flexible)

    def _bytes(self, target: str, value: str, is_refused: str) -> None:
        self._source.line("e = p + n")
        self._source.line(f"if e > end or {is_refused}:")
        self._source.line("    raise bad_length(n, end - p)")
        self._source.line(f"{target} = {value}")
        self._source.line("p = e")

    def _check_count(self, size: int) -> None:
        self._source.line("if n < 0:")
        self._source.line("    raise bad_length(n, end - p)")
        self._source.line(f"if n > {ARRAY_ELEMENTS_MAX} or n * {size} > end - p:")
        self._source.line("    raise bad_count(n, end - p)")

    def _numbers(self, element: Number, target: str) -> None:
        source = self._source
        readers = [layout.unpack_from for layout in small_arrays(element.letter)]
        read = source.constant("read", readers)
        source.line(f"if 0 <= n < {SMALL_ARRAY}:")
        source.line(f"    {target} = list({read}[n](data, p))")
        with source.block("else:"):
            self._check_count(element.size_bytes)
            unpack = source.constant("unpack", struct.unpack_from)
            source.line(f"{target} = list({unpack}(f'>{{n}}{element.letter}', data, p))")
        source.line(f"p += n * {element.size_bytes}")

    def _flat_array(self, element: type[Struct], target: str) -> None:
        """Structs of fixed width, unless one of them has tagged fields: then one by one."""
        source = self._source
        self._check_count(size_min(element, self._version, self._is_flexible))
        elements = source.name("a")
        source.line(f"{elements} = []")
        with source.block(f"if n >= {_FLAT_ARRAY_MIN}:"):
            self._flat_elements(element, elements)
        self._elements(StructType(element), elements, self._is_flexible)
        source.line(f"{target} = {elements}")

    def _flat_elements(self, element: type[Struct], elements: str) -> None:
        source = self._source
        item, tags = source.name("i"), source.name("t")
        present = untagged(element, self._version)
        targets = [f"{item}.{each.name}" for each in present]
        letters = "".join(fixed_letter(each.type) or "" for each in present)
        if self._is_flexible:
            targets.append(tags)
            letters += "B"
        unpack = source.layout(letters, "iter_unpack")
        source.line(f"e = p + n * {calcsize('>' + letters)}")
        source.line(f"{elements} = list(map(new, repeat({source.constant('Type', element)}, n)))")
        values = f"({', '.join(targets)},)"
        with source.block(f"for {item}, {values} in zip({elements}, {unpack}(data[p:e])):"):
            if self._is_flexible:
                source.line(f"if {tags}:")
                source.line(f"    {elements} = []")
                source.line("    break")
            self._set_defaults(element, item)
            source.line(f"{item}.unknown_tagged_fields = NO_TAGS")
        source.line("else:")
        source.line("    p = e")
        source.line("    n = 0")

    def _elements(self, kind: WireType, elements: str, is_flexible: bool) -> None:
        item = self._source.name("i")
        with self._source.block("for _ in range(n):"):
            if isinstance(kind, StructType):
                self._struct(kind.struct, item)
            else:
                self._value(kind, item, is_nullable=False, is_flexible=is_flexible)
            self._flush()
            self._source.line(f"{elements}.append({item})")

    def _tagged_fields(self, known: list[Field], variable: str) -> None:
        source = self._source
        count = source.name("t")
        self._gather(count, "B")
        self._flush()
        source.line(f"{variable}.unknown_tagged_fields = NO_TAGS")
        with source.block(f"if {count}:"):
            if known:
                self._known_tagged_fields(known, variable, count)
            else:
                source.line(
                    f"{variable}.unknown_tagged_fields, p = read_unknown_tags(data, p, {count})"
                )

    def _known_tagged_fields(self, known: list[Field], variable: str, count: str) -> None:
        source = self._source
        tag, stop, unknown = source.name("k"), source.name("q"), source.name("u")
        source.line(f"{count}, p = read_tag_count(data, p, {count})")
        source.line(f"{unknown} = {{}}")
        source.line(f"{tag} = -1")
        with source.block(f"for _ in range({count}):"):
            source.line(f"{tag}, p, {stop} = read_tag(data, p, {tag})")
            keyword = "if"
            for each in known:
                with source.block(f"{keyword} {tag} == {each.tag}:"), source.at(each.name):
                    self._field(each, f"{variable}.{each.name}")
                    self._flush()
                keyword = "elif"
            with source.block("else:"):
                source.line(f"{unknown}[{tag}] = bytes(data[p:{stop}])")
                source.line(f"p = {stop}")
            source.line(f"if p != {stop}:")
            source.line("    raise UnreadableError('a tagged field of another size than it says')")
        source.line(f"if {unknown}:")
        source.line(f"    {variable}.unknown_tagged_fields = {unknown}")
