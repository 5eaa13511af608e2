"""Regular expressions in RE2's syntax, as Kafka takes them.

The library takes 3 MiB of memory: it is loaded with the first expression, which few nodes see.
"""

from typing import Protocol


class InvalidExpressionError(ValueError):
    """A text that is no expression of RE2's syntax."""


class Pattern(Protocol):
    """A compiled expression."""

    def fullmatch(self, text: str) -> object | None: ...


def compile_expression(expression: str) -> Pattern:
    import re2

    quietly = re2.Options()
    quietly.log_errors = False
    try:
        pattern: Pattern = re2.compile(expression, quietly)
    except re2.error as error:
        raise InvalidExpressionError(f"{expression!r}: {error}") from error
    return pattern
