"""Options as given, by name without regard to case, and the text of one to its value. Pure.

Spark hands all names over in lower case; messages say them as they are documented. The settings of
Kafka's clients may have `kafka.` in front, as Spark's own connector wants it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Final, TypeVar

from snakka.client.settings import DEFAULT_SETTINGS, ClientSettings
from snakka.config.problems import nearest
from snakka.pipeline.errors import OptionError

_T = TypeVar("_T")

KAFKA_PREFIX: Final = "kafka."
_BYTES: Final = re.compile(r"(\d+)\s*(|b|k|kb|m|mb|g|gb)", re.IGNORECASE)
_DURATION: Final = re.compile(r"(\d+)\s*(ms|s|m|h)", re.IGNORECASE)
_FACTOR: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_BOOLEAN: Final = {"true": True, "false": False}
_CLIENT_SETTINGS: Final = {each.name.replace("_", "."): each for each in fields(ClientSettings)}


class Given:
    """The options of one query, all of whose names are known."""

    def __init__(self, options: Mapping[str, str], known: Iterable[str]) -> None:
        names = {each.lower(): each for each in (*known, *_CLIENT_SETTINGS)}
        self._values: dict[str, str] = {}
        for given, text in options.items():
            plain = given.lower().removeprefix(KAFKA_PREFIX)
            name = names.get(plain)
            if name is None:
                raise OptionError(f"there is no option {given}{nearest(plain, names.values())}")
            if self._values.setdefault(name, text) != text:
                raise OptionError(f"option {name}: is given twice, with {KAFKA_PREFIX} and without")

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def required(self, name: str) -> str:
        if not self._values.get(name, "").strip():
            raise OptionError(f"option {name}: is required")
        return self._values[name].strip()

    def read(self, name: str, parse: Callable[[str], _T], default: _T) -> _T:
        """The value of an option, or the default where it is not given."""
        text = self._values.get(name)
        if text is None:
            return default
        try:
            return parse(text.strip())
        except ValueError as error:
            raise OptionError(f"option {name}: {text!r} {error}") from None

    def client_settings(self) -> ClientSettings:
        """What is asked of the connections."""
        changed: dict[str, str | int] = {}
        for name, each in _CLIENT_SETTINGS.items():
            if name in self:
                default = getattr(DEFAULT_SETTINGS, each.name)
                parse: Callable[[str], str | int] = str if isinstance(default, str) else positive
                changed[each.name] = self.read(name, parse, default)
        return replace(DEFAULT_SETTINGS, **changed)  # type: ignore[arg-type]


def client_options(options: Mapping[str, str]) -> dict[str, str]:
    """Those that every source and sink has: which servers, and the settings of a client."""
    names = {"bootstrap.servers", *_CLIENT_SETTINGS}
    plain = {name.lower().removeprefix(KAFKA_PREFIX): text for name, text in options.items()}
    return {name: text for name, text in plain.items() if name in names}


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError("is not a whole number above zero")
    return int(text)


def size_bytes(text: str) -> int:
    found = _BYTES.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise ValueError("is not a size such as 67108864 or 64m")
    return int(found[1]) * _FACTOR[found[2][:1].lower()]


def duration_ms(text: str) -> int:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError("is not a duration such as 500ms, 30s, 15m or 1h")
    return int(found[1]) * _MILLISECONDS[found[2].lower()]


def boolean(text: str) -> bool:
    value = _BOOLEAN.get(text.lower())
    if value is None:
        raise ValueError("is neither true nor false")
    return value


def one_of(*allowed: str) -> Callable[[str], str]:
    """Reads one of some words, without regard to case or to `_` in place of `-`."""

    def parse(text: str) -> str:
        word = text.lower()
        for each in allowed:
            if word.replace("_", "-") == each.replace("_", "-"):
                return each
        raise ValueError(f"is none of {', '.join(allowed)}{nearest(word, allowed)}")

    return parse
