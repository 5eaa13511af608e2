"""Python source under construction, each line of which knows the field it serves.

When compiled code fails, the line it failed on tells the field, at no cost while nothing fails.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from struct import Struct as Layout
from types import CodeType, TracebackType
from typing import Any, NamedTuple


class Part(NamedTuple):
    """One of several values that a line reads or writes at once."""

    expression: str
    letter: str
    place: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Where compiled code was when it failed, and its variables."""

    place: str
    parts: Sequence[Part]
    variables: dict[str, Any]


class Source:
    """The lines of one function, the constants they use, and where each is in the message."""

    def __init__(self, signature: str, place: str) -> None:
        self.constants: dict[str, Any] = {}
        self._path = [place]
        self._lines = [signature]
        self._origins: list[tuple[str, Sequence[Part]]] = [(place, ())]
        self._depth = 1
        self._names = 0

    @property
    def place(self) -> str:
        return ".".join(self._path)

    def line(self, text: str, parts: Sequence[Part] = ()) -> None:
        self._lines.append("    " * self._depth + text)
        self._origins.append((self.place, parts))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A head line such as `if n:`, under which the lines that follow are indented."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def at(self, field_name: str) -> Iterator[None]:
        """Says which field the lines that follow serve."""
        self._path.append(field_name)
        yield
        self._path.pop()

    def name(self, stem: str) -> str:
        """A variable that no other part of the function uses."""
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, stem: str, value: Any) -> str:
        """The name under which the function sees `value`."""
        name = self.name(stem)
        self.constants[name] = value
        return name

    def layout(self, letters: str, method: str) -> str:
        """The name of this method of the `struct` layout of `letters`."""
        name = f"{method}_{letters.replace('?', 'o')}"
        if name not in self.constants:
            self.constants[name] = getattr(Layout(">" + letters), method)
        return name

    def compile(self, name: str) -> tuple[Callable[..., Any], "Origins"]:
        code = compile("\n".join(self._lines), f"<{self._path[0]}>", "exec")
        exec(code, self.constants)
        function = self.constants[name]
        return function, Origins(function.__code__, self._origins)


class Origins:
    """Which field each line of a compiled function serves."""

    def __init__(self, code: CodeType, lines: list[tuple[str, Sequence[Part]]]) -> None:
        self._code = code
        self._lines = lines

    def find(self, traceback: TracebackType | None) -> Failure:
        """Where the function was when what it called, or it itself, failed."""
        while traceback is not None:
            if traceback.tb_frame.f_code is self._code:
                place, parts = self._lines[traceback.tb_lineno - 1]
                return Failure(place, parts, traceback.tb_frame.f_locals)
            traceback = traceback.tb_next
        raise AssertionError("the failure is not of this function")
