"""Values of keys with their types known to mypy."""

from collections.abc import Mapping
from typing import TypeVar

from snakka.config.key import Value

_T = TypeVar("_T")


class TypedValues:
    """`get_x` of a key that always has a value, `find_x` of one that may have none."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values

    def get_bool(self, name: str) -> bool:
        return self._get(name, bool)

    def get_int(self, name: str) -> int:
        return self._get(name, int)

    def get_float(self, name: str) -> float:
        return self._get(name, float)

    def get_text(self, name: str) -> str:
        return self._get(name, str)

    def get_list(self, name: str) -> tuple[str, ...]:
        return self._get(name, tuple)

    def find_int(self, name: str) -> int | None:
        return self._find(name, int)

    def find_text(self, name: str) -> str | None:
        return self._find(name, str)

    def find_list(self, name: str) -> tuple[str, ...] | None:
        return self._find(name, tuple)

    def _get(self, name: str, kind: type[_T]) -> _T:
        value = self.values[name]
        assert isinstance(value, kind), f"{name} is {value!r}, no {kind.__name__}"
        return value

    def _find(self, name: str, kind: type[_T]) -> _T | None:
        return None if self.values[name] is None else self._get(name, kind)
