"""Compiles the encoder of one message in one version.

The compiled function appends to `out`. Neighbouring fields of fixed width are packed by one
`struct` call, a short array of numbers together with its length. Records that are not bytes, but
stand for a range of a file, are left out of the buffer: `chunks` gets what came before and then
them. What fails raises one of ENCODE_ERRORS; the codec turns it into an UnencodableError that names
the field.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from snakka.protocol.layout import SMALL_ARRAY, fixed_letter, length_letter, small_arrays
from snakka.protocol.limits import STRING_BYTES_MAX
from snakka.protocol.schema import ArrayType, Field, Struct, StructType, WireType, fields
from snakka.protocol.source import Origins, Part, Source
from snakka.protocol.types import Number, Scalar
from snakka.protocol.wire import SMALL_UVARINTS, UnwritableError, append_tags, uvarint

ENCODE_ERRORS: Final = (
    UnwritableError,
    AttributeError,
    TypeError,
    UnicodeEncodeError,
    struct.error,
)

_BUFFERS: Final = (bytes, bytearray, memoryview)


class EncoderCompiler:
    """Emits the source that writes one version of a message."""

    def __init__(self, message: type[Struct], version: int, is_flexible: bool) -> None:
        self._message = message
        self._version = version
        self._is_flexible = is_flexible
        self._source = Source("def encode(m, out, chunks):", message.__name__)
        self._source.constants |= {
            "UnwritableError": UnwritableError,
            "append_tags": append_tags,
            "uvarint": uvarint,
            "SMALL_UVARINTS": SMALL_UVARINTS,
            "BUFFERS": _BUFFERS,
        }
        self._run: list[Part] = []  # what the next flush writes

    def compile(self) -> tuple[Callable[..., Any], Origins]:
        self._struct(self._message, "m")
        self._flush()
        self._source.line("return out")
        return self._source.compile("encode")

    def _gather(self, value: str, letter: str) -> None:
        self._run.append(Part(value, letter, self._source.place))

    def _flush(self, end: str = "") -> None:
        """Writes what has been gathered, and `end`."""
        run, self._run = self._run, []
        letters = "".join(part.letter for part in run) + end
        if letters:
            values = ", ".join(part.expression for part in run)
            self._source.line(f"out += {self._source.layout(letters, 'pack')}({values})", run)

    def _struct(self, struct: type[Struct], variable: str) -> None:
        tagged = []
        for each in fields(struct):
            with self._source.at(each.name):
                if self._version not in each.versions:
                    self._refuse_unless_default(each, f"{variable}.{each.name}")
                elif each.tag is not None:
                    tagged.append(each)
                else:
                    self._field(each, f"{variable}.{each.name}")
        if self._is_flexible:
            self._tagged_fields(tagged, variable)

    def _refuse_unless_default(self, each: Field, value: str) -> None:
        if each.is_ignorable:
            return
        self._source.line(f"if {self._differs(each, value)}:")
        self._source.line(
            f"    raise UnwritableError('version {self._version} does not have this field')"
        )

    def _differs(self, each: Field, value: str) -> str:
        """The condition under which `value` is not the field's default."""
        if each.default == []:
            return f"{value} or {value} is None"
        if each.default is None:
            return f"{value} is not None"
        default = self._source.constant("default", each.default)
        return f"{value} is not {default} and {value} != {default}"

    def _field(self, each: Field, value: str) -> None:
        is_nullable = self._version in each.nullable
        if isinstance(each.type, StructType) and is_nullable:
            self._nullable_struct(each.type, value)
        else:
            self._value(each.type, value, is_nullable, self._is_flexible and each.is_flexible)

    def _value(self, kind: WireType, value: str, is_nullable: bool, is_flexible: bool) -> None:
        letter = fixed_letter(kind)
        if letter is not None:
            self._fixed(kind, letter, value)
        elif isinstance(kind, StructType):
            variable = self._source.name("s")
            self._source.line(f"{variable} = {value}")
            self._struct(kind.struct, variable)
        else:
            self._flush()
            variable = self._source.name("v")
            self._source.line(f"{variable} = {value}")
            self._sized(kind, variable, is_nullable, is_flexible)

    def _fixed(self, kind: WireType, letter: str, value: str) -> None:
        if kind is Scalar.UUID:  # struct would cut or fill up one of another length
            self._source.line(f"if len({value}) != 16:")
            self._source.line("    raise UnwritableError('a UUID has 16 bytes')")
        self._gather(value, letter)

    def _nullable_struct(self, kind: StructType, value: str) -> None:
        source = self._source
        self._flush()
        source.line(f"if {value} is None:")
        source.line("    out.append(255)")
        with source.block("else:"):
            self._gather("1", "b")
            self._value(kind, value, is_nullable=False, is_flexible=self._is_flexible)
            self._flush()

    def _sized(self, kind: WireType, value: str, is_nullable: bool, is_flexible: bool) -> None:
        source = self._source
        if not is_nullable:
            self._content(kind, value, is_flexible)
            return
        source.line(f"if {value} is None:")
        null = 0 if is_flexible else -1
        pack = source.layout(length_letter(kind, is_flexible), "pack")
        source.line(f"    out += {pack}({null})")
        with source.block("else:"):
            self._content(kind, value, is_flexible)

    def _content(self, kind: WireType, value: str, is_flexible: bool) -> None:
        match kind:
            case ArrayType(Number() as element):
                self._numbers(element, value, is_flexible)
            case ArrayType():
                self._array(kind, value, is_flexible)
            case Scalar.STRING:
                self._source.line(f"{value} = {value}.encode()")
                self._length(kind, value, is_flexible)
                self._source.line(f"out += {value}")
            case Scalar.RECORDS:
                self._length(kind, value, is_flexible)
                self._records(value)
            case _:
                self._length(kind, value, is_flexible)
                self._source.line(f"out += {value}")

    def _length(self, kind: WireType, value: str, is_flexible: bool) -> None:
        source = self._source
        source.line(f"n = len({value})")
        if kind is Scalar.STRING:
            source.line(f"if n > {STRING_BYTES_MAX}:")
            source.line("    raise UnwritableError(f'a string of {n} bytes')")
        if is_flexible:
            source.line(
                f"out += SMALL_UVARINTS[n + 1] if n < {len(SMALL_UVARINTS) - 1} else uvarint(n + 1)"
            )
        else:
            source.line(f"out += {source.layout(length_letter(kind, False), 'pack')}(n)")

    def _records(self, value: str) -> None:
        self._source.line(f"if isinstance({value}, BUFFERS):")
        self._source.line(f"    out += {value}")
        self._source.line("else:")
        self._source.line(f"    chunks += (out, {value})")
        self._source.line("    out = bytearray()")

    def _numbers(self, element: Number, value: str, is_flexible: bool) -> None:
        source = self._source
        prefix = length_letter(ArrayType(element), is_flexible)
        writers = [layout.pack for layout in small_arrays(element.letter, prefix)]
        write = source.constant("write", writers)
        source.line(f"n = len({value})")
        source.line(f"if n < {SMALL_ARRAY}:")
        source.line(f"    out += {write}[n](n{' + 1' if is_flexible else ''}, *{value})")
        with source.block("else:"):
            self._length(ArrayType(element), value, is_flexible)
            pack = source.constant("pack", struct.pack)
            source.line(f"out += {pack}(f'>{{n}}{element.letter}', *{value})")

    def _array(self, kind: ArrayType, value: str, is_flexible: bool) -> None:
        item = self._source.name("i")
        self._length(kind, value, is_flexible)
        with self._source.block(f"for {item} in {value}:"):
            if isinstance(kind.element, StructType):
                self._struct(kind.element.struct, item)
            else:
                self._value(kind.element, item, is_nullable=False, is_flexible=is_flexible)
            self._flush()

    def _tagged_fields(self, known: list[Field], variable: str) -> None:
        source = self._source
        tagged = f"{variable}.unknown_tagged_fields"
        if known:
            self._flush()
            gathered = source.name("g")
            source.line(f"{gathered} = {tagged}")
            for each in known:
                with source.at(each.name):
                    self._known_tagged_field(each, f"{variable}.{each.name}", gathered)
            tagged = gathered
        run = self._run
        with source.block(f"if {tagged}:"):
            self._flush()
            source.line(f"append_tags(out, {tagged})")
        self._run = run
        with source.block("else:"):
            self._flush(end="x")

    def _known_tagged_field(self, each: Field, value: str, gathered: str) -> None:
        source = self._source
        outer = source.name("o")
        with source.block(f"if {self._differs(each, value)}:"):
            source.line(f"{outer} = out")
            source.line("out = bytearray()")
            self._field(each, value)
            self._flush()
            source.line(f"{gathered} = {{**{gathered}, {each.tag}: out}}")
            source.line(f"out = {outer}")
