"""Arguments that are more than text: a parser's ValueError is a complaint about the argument."""

from collections.abc import Callable
from typing import Any

import click


def parsed(parse: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback that gives a command what `parse` makes of an argument, or of each of several."""

    def callback(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
        try:
            if isinstance(given, tuple):
                return tuple(parse(each) for each in given)
            return None if given is None else parse(given)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=context, param=parameter) from None

    return callback


def parse_pair(text: str) -> tuple[str, str]:
    """NAME=VALUE; the value may be empty and may hold more equals signs."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name, value


def parse_place(text: str) -> tuple[str, int | None]:
    """TOPIC, or TOPIC:PARTITION."""
    topic, sign, partition = text.partition(":")
    if not topic or (sign and not partition.isdecimal()):
        raise ValueError(f"{text!r} is not TOPIC or TOPIC:PARTITION")
    return topic, int(partition) if sign else None
