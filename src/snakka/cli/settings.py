"""Where a command gets a node's settings from, and how it says that it cannot go on.

Settings come from a file, the environment and flags, each over the one before. What is given
nowhere is what one node on a laptop wants; everything else has Kafka's default.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click

from snakka.config.broker import BrokerConfig
from snakka.config.loading import load_broker_config
from snakka.config.problems import ConfigurationError
from snakka.config.sources import Setting, from_environment, from_flags, read_file
from snakka.config.standalone import standalone_settings

_USAGE_ERROR: Final = 2
_F = TypeVar("_F", bound=Callable[..., Any])


def data_option(function: _F) -> _F:
    return click.option(
        "--data", default="snakka-data", show_default=True, help="Where the logs go."
    )(function)


def set_option(function: _F) -> _F:
    return click.option(
        "--set", "flags", multiple=True, metavar="KEY=VALUE", help="One of Kafka's settings."
    )(function)


def load_config(
    file: Path | None, data: str, flags: Sequence[str], listen: str = "127.0.0.1:9092"
) -> BrokerConfig:
    """The configuration; ends the command where there is something wrong with it."""
    try:
        return load_broker_config(_settings(file, data, listen, flags))
    except ConfigurationError as error:
        refuse(*(str(problem) for problem in error.problems))


def refuse(*lines: str) -> NoReturn:
    for line in lines:
        click.echo(f"snakka: {line}", err=True)
    sys.exit(_USAGE_ERROR)


def _settings(file: Path | None, data: str, listen: str, flags: Sequence[str]) -> Iterator[Setting]:
    host, _, port = listen.rpartition(":")
    yield from standalone_settings(host or "127.0.0.1", int(port))
    yield Setting("log.dirs", data, "--data")
    if file is not None:
        yield from read_file(file)
    yield from from_environment(os.environ)
    yield from from_flags(flags)
