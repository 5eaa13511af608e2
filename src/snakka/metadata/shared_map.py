"""An immutable map whose next version costs what changed, not what is in it.

A version is a large dictionary that many versions share, never changed once built, under a small
one of its own with what differs from it. The small one is copied with every change and folded
into a new large one when it has grown past the square root of it: a change of a map of `n` keys
costs in the order of the root of `n`, and a lookup costs at most two dictionaries'. (A persistent
tree written in Python pays more than this for every lookup, and needs hundreds of lines.)

Not here: what the maps hold (image.py).
"""

from collections.abc import ItemsView, Iterator, Mapping
from typing import Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class SharedMap(Mapping[K, V]):
    """One version of a map. None is no value: in `_changed` it says that the key is gone."""

    __slots__ = ("_changed", "_shared")

    def __init__(self, entries: Mapping[K, V] | None = None) -> None:
        self._shared: dict[K, V] = dict(entries or {})
        self._changed: dict[K, V | None] = {}

    def after(self, changes: Mapping[K, V | None]) -> "SharedMap[K, V]":
        """The map after these changes, where None removes a key."""
        if not changes:
            return self
        version: SharedMap[K, V] = SharedMap.__new__(SharedMap)
        changed = {**self._changed, **changes}
        if len(changed) ** 2 > 2 * len(self._shared):
            folded = {**self._shared, **changed}
            version._shared = {key: value for key, value in folded.items() if value is not None}
            version._changed = {}
        else:
            version._shared = self._shared
            version._changed = changed
        return version

    def __getitem__(self, key: K) -> V:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V | D) -> V | D: ...
    def get(self, key: K, /, default: object = None) -> object:
        if key in self._changed:
            found = self._changed[key]
            return default if found is None else found
        return self._shared.get(key, default)

    def __contains__(self, key: object) -> bool:
        if key in self._changed:
            return self._changed[key] is not None
        return key in self._shared

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self._shared if key not in self._changed)
        yield from (key for key, value in self._changed.items() if value is not None)

    def __len__(self) -> int:
        gone = sum(key in self._shared for key in self._changed)
        return len(self._shared) - gone + sum(v is not None for v in self._changed.values())

    def items(self) -> ItemsView[K, V]:
        return self._shared.items() if not self._changed else super().items()

    def __repr__(self) -> str:
        return f"SharedMap({dict(self.items())!r})"


class MapDelta(Generic[K, V]):
    """What happens to a map: reads as it will be, and remembers what changed."""

    __slots__ = ("before", "changes")

    def __init__(self, before: SharedMap[K, V]) -> None:
        self.before = before
        self.changes: dict[K, V | None] = {}

    def get(self, key: K) -> V | None:
        return self.changes[key] if key in self.changes else self.before.get(key)

    def set(self, key: K, value: V) -> None:
        self.changes[key] = value

    def remove(self, key: K) -> None:
        if key in self.before:
            self.changes[key] = None
        else:
            self.changes.pop(key, None)

    def after(self) -> SharedMap[K, V]:
        return self.before.after(self.changes)

    def __bool__(self) -> bool:
        return bool(self.changes)
