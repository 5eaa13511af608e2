"""What values of a key are valid, and how that is said in one line.

`str(rule)` is the line, in Kafka's notation. Not here: rules over several keys (relations.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol


class Rule(Protocol):
    @property
    def options(self) -> Sequence[str]:
        """All valid values, where they can be listed."""

    def find_problem(self, value: object) -> str | None:
        """Why the value is not valid."""


@dataclass(frozen=True, slots=True)
class Range:
    low: float
    high: float | None = None
    also: float | None = None  # one more value that is valid
    options: ClassVar[Sequence[str]] = ()

    def find_problem(self, value: object) -> str | None:
        assert isinstance(value, int | float)
        if value == self.also:
            return None
        or_also = "" if self.also is None else f", or {self.also}"
        if value < self.low:
            return f"it must be at least {self.low}{or_also}"
        if self.high is not None and value > self.high:
            return f"it must be at most {self.high}{or_also}"
        return None

    def __str__(self) -> str:
        bounds = f"[{self.low},...]" if self.high is None else f"[{self.low},...,{self.high}]"
        return bounds if self.also is None else f"{bounds} or {self.also}"


@dataclass(frozen=True, slots=True)
class OneOf:
    options: tuple[str, ...]
    ignores_case: bool = False

    def find_problem(self, value: object) -> str | None:
        shown = value.upper() if self.ignores_case and isinstance(value, str) else value
        return None if shown in self.options else f"it must be one of {', '.join(self.options)}"

    def __str__(self) -> str:
        return f"{'(case insensitive) ' if self.ignores_case else ''}[{', '.join(self.options)}]"


@dataclass(frozen=True, slots=True)
class ListOf:
    """Values of a list are never empty and never there twice."""

    options: tuple[str, ...] = ()  # none: any value
    may_be_empty: bool = True

    def find_problem(self, value: object) -> str | None:
        assert isinstance(value, tuple)
        if not value and not self.may_be_empty:
            return "it must not be empty"
        if len(set(value)) < len(value):
            return "it must not name a value twice"
        if not all(value):
            return "it must not have an empty value"
        if wrong := [each for each in value if self.options and each not in self.options]:
            return f"{wrong[0]!r} is not one of {', '.join(self.options)}"
        return None

    def __str__(self) -> str:
        return f"[{', '.join(self.options)}]" if self.options else ""


@dataclass(frozen=True, slots=True)
class NotEmpty:
    options: ClassVar[Sequence[str]] = ()

    def find_problem(self, value: object) -> str | None:
        return None if value else "it must not be empty"

    def __str__(self) -> str:
        return "non-empty string"


@dataclass(frozen=True, slots=True)
class AnyString:
    options: ClassVar[Sequence[str]] = ()

    def find_problem(self, value: object) -> str | None:
        return None

    def __str__(self) -> str:
        return "non-null string"


@dataclass(frozen=True, slots=True)
class Each:
    """Every value of a list has one form; the same one twice is allowed."""

    form: str
    pattern: re.Pattern[str]
    may_be_all: bool = False  # the list may be `*` alone
    options: ClassVar[Sequence[str]] = ()

    def find_problem(self, value: object) -> str | None:
        assert isinstance(value, tuple)
        if self.may_be_all and value == ("*",):
            return None
        for each in value:
            if not self.pattern.fullmatch(each):
                return f"{each!r} is not of the form {self.form}"
        return None

    def __str__(self) -> str:
        return f"{self.form},..."


@dataclass(frozen=True, slots=True)
class Form:
    """A string of one of some forms."""

    forms: tuple[str, ...]
    pattern: re.Pattern[str]
    options: tuple[str, ...] = ()

    def find_problem(self, value: object) -> str | None:
        if isinstance(value, str) and self.pattern.fullmatch(value):
            return None
        return f"it must be one of {', '.join(self.forms)}"

    def __str__(self) -> str:
        return f"[{', '.join(self.forms)}]"


def at_least(low: float) -> Range:
    return Range(low)


def between(low: float, high: float) -> Range:
    return Range(low, high)


def one_of(*options: str, ignores_case: bool = False) -> OneOf:
    return OneOf(options, ignores_case)


def list_of(*options: str, may_be_empty: bool = False) -> ListOf:
    return ListOf(options, may_be_empty)


ANY_LIST = ListOf()
NON_EMPTY_LIST = ListOf(may_be_empty=False)
NON_EMPTY = NotEmpty()
ANY_STRING = AnyString()

_HOST_AND_PORT = r"([\w+.-]+://)?\[?[0-9a-zA-Z\-%._:]+\]?:\d{1,9}"
VOTERS = Each("{id}@{host}:{port}", re.compile(rf"\d{{1,10}}@{_HOST_AND_PORT}"))
HOST_AND_PORTS = Each("{host}:{port}", re.compile(_HOST_AND_PORT))
REPLICAS = Each("{partition}:{broker}", re.compile(r"\d+:\d+"), may_be_all=True)

_DURATION = r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+([.]\d{1,9})?S)?)?"
OFFSET_RESET = Form(
    ("latest", "earliest", "by_duration:PnDTnHnMn.nS"),
    re.compile(f"latest|earliest|by_duration:(?i:{_DURATION})"),
    ("latest", "earliest"),
)
