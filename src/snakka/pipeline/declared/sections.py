"""The tables of a TOML file, read key by key; what is wrong is noted, and reading goes on. Pure.

A key that nobody has asked for by the time a section is closed is unknown.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from snakka.config.problems import Problem, nearest

_T = TypeVar("_T")


class Section:
    """One table, and where it stands."""

    def __init__(
        self, table: Mapping[str, Any], source: str, problems: list[Problem], path: str = ""
    ) -> None:
        self._table = table
        self._source = source
        self._problems = problems
        self._path = path
        self._known: dict[str, None] = {}

    def __contains__(self, key: str) -> bool:
        self._known[key] = None
        return key in self._table

    def text(self, key: str, default: str | None = None) -> str:
        """Text, which must be given where there is no default."""
        return self.parsed(key, lambda text: text, default)

    def parsed(self, key: str, parse: Callable[[str], _T], default: _T | None = None) -> _T:
        """What `parse` makes of a text; its ValueError is a complaint about it."""
        if key not in self:
            if default is None:
                self.complain(key, "it must be given")
            return default if default is not None else parse("")
        given = self._table[key]
        try:
            if not isinstance(given, str):
                raise ValueError("is not text in quotes")
            return parse(given)
        except ValueError as error:
            self.complain(key, f"it {error}", given)
            return default if default is not None else parse("")

    def count(self, key: str) -> int:
        """A whole number above zero, or 0 where none is given."""
        given = self._table[key] if key in self else 0
        if isinstance(given, bool) or not isinstance(given, int) or (key in self and given < 1):
            self.complain(key, "it is not a whole number above zero", given)
            return 0
        return given

    def flag(self, key: str, *, default: bool) -> bool:
        given = self._table[key] if key in self else default
        if not isinstance(given, bool):
            self.complain(key, "it is neither true nor false", given)
            return default
        return given

    def texts(self, key: str, *, is_required: bool = False) -> tuple[str, ...]:
        """A list of texts."""
        given = self._table[key] if key in self else []
        if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
            self.complain(key, 'it is not a list of texts such as ["one", "two"]', given)
            return ()
        if is_required and not given:
            self.complain(key, "it must be given" if key not in self else "it is empty")
        return tuple(given)

    def mapping(self, key: str) -> dict[str, str]:
        """Names, which may be of several words with dots between, and their values as text."""
        given = self._table[key] if key in self else {}
        if not isinstance(given, dict):
            self.complain(key, "it is not a table", given)
            return {}
        return dict(_flattened(given, ""))

    def section(self, key: str) -> "Section | None":
        if key not in self:
            return None
        given = self._table[key]
        if not isinstance(given, dict):
            self.complain(key, "it is not a table", given)
            return None
        return Section(given, self._source, self._problems, self._name(key))

    def sections(self, key: str) -> "list[Section]":
        """The tables of an array of tables."""
        given = self._table[key] if key in self else []
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            self.complain(key, f"it is not a row of tables: write [[{key}]]", given)
            return []
        return [
            Section(each, self._source, self._problems, f"{self._name(key)}[{index}]")
            for index, each in enumerate(given)
        ]

    def complain(self, key: str, reason: str, value: object = None) -> None:
        shown = value if value is None or isinstance(value, str) else json.dumps(value, default=str)
        self._problems.append(Problem(reason, self._source, self._name(key), shown))

    def close(self) -> None:
        """Everything that is known has been asked for."""
        for key, value in self._table.items():
            if key not in self._known:
                self.complain(key, f"there is no such key{nearest(key, self._known)}", value)

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key


def _flattened(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{prefix}{key}.")
        elif isinstance(value, bool | list):
            yield prefix + key, json.dumps(value)
        else:
            yield prefix + key, str(value)
