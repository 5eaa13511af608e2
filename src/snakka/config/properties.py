"""Java's `.properties` format: comments, continued lines, escapes.

Not here: what the keys mean.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BLANKS: Final = " \t\f"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.|\Z)", re.DOTALL)
_NAME: Final = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Property(NamedTuple):
    line: int
    name: str
    value: str


def parse_properties(text: str) -> Iterator[Property]:
    """The properties in their order; where a name comes twice, Java keeps the last.

    Raises ValueError on a `\\u` without four hexadecimal digits.
    """
    for number, line in _logical_lines(text):
        name = _NAME.match(line)
        assert name is not None
        separator = _SEPARATOR.match(line, name.end())
        assert separator is not None
        yield Property(
            number, _unescape(name[0], number), _unescape(line[separator.end() :], number)
        )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those joined that end in a backslash, numbered by their first."""
    first = 0
    parts: list[str] = []
    for number, natural in enumerate(_LINE_END.split(text), 1):
        line = natural.lstrip(_BLANKS)
        if not parts:
            first = number
            if not line or line[0] in "#!":
                continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            parts.append(line[:-1])
            continue
        yield first, "".join((*parts, line))
        parts.clear()
    if any(parts):
        yield first, "".join(parts)


def _unescape(text: str, line: int) -> str:
    def replaced(found: re.Match[str]) -> str:
        escaped = found[1]
        if escaped == "u":
            raise ValueError(f"line {line}: \\u wants four hexadecimal digits")
        if len(escaped) > 1:
            return chr(int(escaped[1:], 16))
        return _ESCAPES.get(escaped, escaped)

    return _ESCAPED.sub(replaced, text) if "\\" in text else text
