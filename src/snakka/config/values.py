"""Text to values and back, as Java's ConfigDef reads and shows them.

Not here: which values a key allows beyond its type (rules.py).
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from snakka.config.key import Key, Type, Value

_INTEGER: Final = re.compile(r"[+-]?\d+")
_DOUBLE: Final = re.compile(r"[+-]?(NaN|Infinity|(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?[fFdD]?)")
_BITS: Final = {Type.SHORT: 16, Type.INT: 32, Type.LONG: 64}
_PLAIN_DOUBLES: Final = (1e-3, 1e7)  # outside of this range Java writes an exponent


class InvalidValueError(ValueError):
    """Says why a text is not a value of a key; the nearest valid one may be known."""

    def __init__(self, reason: str, options: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.options = options


def parse(key: Key, text: str) -> Value:
    """The value that the text means, if the key allows it."""
    value = _PARSERS[key.type](key.type, text.strip())
    if key.rule is not None and (problem := key.rule.find_problem(value)):
        raise InvalidValueError(problem, tuple(key.rule.options))
    return value


def split(text: str) -> tuple[str, ...]:
    """A list as ConfigDef splits it: at commas, without the space around them."""
    return tuple(re.split(r"\s*,\s*", text)) if text else ()


def render(value: Value) -> str | None:
    """The text that DescribeConfigs shows."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return _render_double(value)
        case tuple():
            return ",".join(value)
        case _:
            return str(value)


def _parse_boolean(_: Type, text: str) -> Value:
    if text.lower() not in ("true", "false"):
        raise InvalidValueError("it must be true or false", ("true", "false"))
    return text.lower() == "true"


def _parse_integer(kind: Type, text: str) -> Value:
    if not _INTEGER.fullmatch(text):
        raise InvalidValueError(f"it must be a whole number ({kind.name})")
    limit = 2 ** (_BITS[kind] - 1)
    # Python refuses to parse thousands of digits; nothing of a valid length is refused here.
    if len(text) > len(str(limit)) + 1 or not -limit <= int(text) < limit:
        raise InvalidValueError(f"it must be between {-limit} and {limit - 1} ({kind.name})")
    return int(text)


def _parse_double(_: Type, text: str) -> Value:
    if not _DOUBLE.fullmatch(text):
        raise InvalidValueError("it must be a number (DOUBLE)")
    return float(text.rstrip("fFdD"))


def _parse_text(_: Type, text: str) -> Value:
    return text


def _parse_list(_: Type, text: str) -> Value:
    return split(text)


_PARSERS: Mapping[Type, Callable[[Type, str], Value]] = {
    Type.BOOLEAN: _parse_boolean,
    Type.STRING: _parse_text,
    Type.INT: _parse_integer,
    Type.SHORT: _parse_integer,
    Type.LONG: _parse_integer,
    Type.DOUBLE: _parse_double,
    Type.LIST: _parse_list,
    Type.CLASS: _parse_text,
    Type.PASSWORD: _parse_text,
}


def _render_double(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    low, high = _PLAIN_DOUBLES
    if value == 0 or low <= abs(value) < high:
        return f"{value!r}"
    digits, exponent = f"{value:.17e}".split("e")
    for precision in range(17):
        shorter = f"{value:.{precision}e}"
        if float(shorter) == value:
            digits, exponent = shorter.split("e")
            break
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"
