"""Tables for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

_NOT_A_TERMINAL_WIDTH: Final = 1000  # nothing is cut where a program reads

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2 if sys.stdout.isatty() else None))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns whose name begins with `>` are numbers, and stand on the right."""
    console = _console()
    table = Table(box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for each in columns:
        is_number = each.startswith(">")
        table.add_column(
            each.removeprefix(">"),
            justify="right" if is_number else "left",
            overflow="fold",
            header_style="bold cyan",
        )
    for row in rows:
        table.add_row(*(each if isinstance(each, Text) else Text(_shown(each)) for each in row))
    console.print(table)


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Names and values, one to a line."""
    listed = list(facts)
    width = max(len(name) for name, _ in listed)
    console = _console()
    for name, value in listed:
        line = Text(f"{_margin(console)}{name.ljust(width)}  ", style="cyan")
        line.append_text(value if isinstance(value, Text) else Text(_shown(value), style="default"))
        console.print(line)


def title(text: str) -> None:
    console = _console()
    console.print(Text(_margin(console) + text, style="bold"))


def warning(text: str) -> Text:
    """What somebody should look at."""
    return Text(text, style="bold red")


def done(text: str) -> None:
    """What a command has done."""
    _console().print(Text("✓ ", style="green").append(text, style="default"))


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _margin(console: Console) -> str:
    """What tables have on their left, too."""
    return " " if console.is_terminal else ""


def _console() -> Console:
    console = Console(file=sys.stdout, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console = Console(
            file=sys.stdout,
            highlight=False,
            emoji=False,
            markup=False,
            width=_NOT_A_TERMINAL_WIDTH,
        )
    return console


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "-"
    return str(value)
