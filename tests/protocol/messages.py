"""Every message there is, and Hypothesis strategies that make values of them."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import snakka.protocol.internal
import snakka.protocol.messages
from snakka.protocol.schema import (
    ArrayType,
    Field,
    Message,
    Struct,
    StructType,
    WireType,
    fields,
)
from snakka.protocol.types import Number, Scalar

S = TypeVar("S", bound=Struct)
M = TypeVar("M", bound=Message)


def _declared_in(package: ModuleType) -> Iterator[type[Message]]:
    for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            is_message = isinstance(value, type) and issubclass(value, Message)
            if is_message and value.__module__ == module.__name__ and value.VERSIONS.last >= 0:
                yield value


@cache
def all_messages() -> tuple[type[Message], ...]:
    """The messages of every API, their headers, and the records of internal topics."""
    return (*_declared_in(snakka.protocol.messages), *_declared_in(snakka.protocol.internal))


def versions(message: type[Message]) -> range:
    return range(message.VERSIONS.first, message.VERSIONS.last + 1)


class Values:
    """Strategies for the values of one version of a message.

    The methods for single types are there to be narrowed for a peer that takes fewer values.
    """

    has_unknown_tags = True

    def message(self, message: type[M], version: int) -> SearchStrategy[M]:
        return self._struct(message, version, version in message.FLEXIBLE)

    def _struct(self, struct: type[S], version: int, is_flexible: bool) -> SearchStrategy[S]:
        values = {
            each.name: self._field(each, version, is_flexible)
            for each in fields(struct)
            if version in each.versions
        }
        if is_flexible and self.has_unknown_tags:
            first = max((each.tag or 0 for each in fields(struct)), default=0) + 1
            tags = st.dictionaries(st.integers(first, 2**31 - 2), st.binary(max_size=4), max_size=2)
            values["unknown_tagged_fields"] = tags
        return st.builds(struct, **values)

    def _field(self, each: Field, version: int, is_flexible: bool) -> SearchStrategy[object]:
        value = self.named(each.name, each.type, version, is_flexible)
        return st.none() | value if version in each.nullable else value

    def named(
        self, name: str, kind: WireType, version: int, is_flexible: bool
    ) -> SearchStrategy[object]:
        match kind:
            case StructType():
                return self._struct(kind.struct, version, is_flexible)
            case ArrayType():
                return st.lists(self.named(name, kind.element, version, is_flexible), max_size=3)
            case Number():
                return self.number(name, kind)
            case Scalar.STRING:
                return st.text(max_size=12)
            case Scalar.BOOL:
                return st.booleans()
            case Scalar.UUID:
                return st.binary(min_size=16, max_size=16)
            case _:
                return st.binary(max_size=200)

    def number(self, name: str, kind: Number) -> SearchStrategy[object]:
        if kind.letter == "d":
            return st.floats(allow_nan=False, allow_infinity=False)
        bits = 8 * kind.size_bytes
        if kind.letter.isupper():
            return st.integers(0, (1 << bits) - 1)
        return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
