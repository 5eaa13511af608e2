"""Where settings come from: files, environment variables, flags. Text is all they are here.

A later setting of a name overrides an earlier one, so whoever starts the broker puts the sources in
the order file, environment, flags. Not here: which names and values are right (broker.py).
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from snakka.config.problems import ConfigurationError, Problem
from snakka.config.properties import parse_properties

PREFIX: Final = "SNAKKA_"

TomlValue: TypeAlias = "Mapping[str, TomlValue] | list[TomlValue] | str | int | float | bool"


class Setting(NamedTuple):
    name: str
    text: str
    source: str  # as an error shows it


def read_file(path: Path) -> list[Setting]:
    """The settings of a `.properties` or `.toml` file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError([Problem(error.strerror or str(error), str(path))]) from None
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte {error.start}"
        raise ConfigurationError([Problem(reason, str(path))]) from None
    read = from_toml if path.suffix == ".toml" else from_properties
    return list(read(text, str(path)))


def from_properties(text: str, source: str) -> Iterator[Setting]:
    try:
        for line, name, value in parse_properties(text):
            yield Setting(name, value, f"{source}:{line}")
    except ValueError as error:
        raise ConfigurationError([Problem(str(error), source)]) from None


def from_toml(text: str, source: str) -> Iterator[Setting]:
    """Tables may be nested as one likes: `[log.retention]` and `ms = 1` is `log.retention.ms`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = ""
        if "overwrite" in str(error).lower():
            hint = '; where one name begins another, quote it: "max.connections.per.ip" = 10'
        raise ConfigurationError([Problem(f"{error}{hint}", source)]) from None
    for name, text_value in _flattened(table, ""):
        yield Setting(name, text_value, source)


def from_environment(environment: Mapping[str, str]) -> Iterator[Setting]:
    """`SNAKKA_LOG_RETENTION_MS` is `log.retention.ms`.

    As in Kafka's container images, two underscores stand for one, and three for a hyphen.
    """
    for variable in sorted(environment):
        if variable.startswith(PREFIX):
            name = variable.removeprefix(PREFIX).lower()
            name = name.replace("___", "-").replace("__", "\0").replace("_", ".")
            yield Setting(name.replace("\0", "_"), environment[variable], variable)


def from_flags(flags: Iterable[str], source: str = "--set") -> Iterator[Setting]:
    """`key=value` each."""
    problems = []
    for flag in flags:
        name, equals, text = flag.partition("=")
        if equals:
            yield Setting(name.strip(), text, source)
        else:
            problems.append(Problem("it must be key=value", source, flag))
    if problems:
        raise ConfigurationError(problems)


def _flattened(value: TomlValue, name: str) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for part, inner in value.items():
                yield from _flattened(inner, f"{name}.{part}" if name else part)
        case list():
            yield name, ",".join(_text(each) for each in value)
        case _:
            yield name, _text(value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
