"""A line that moves: on a terminal each replaces the one before, elsewhere each is a line."""

import json
import sys
from typing import Any

import click


class ProgressLine:
    """Lines of one run."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._is_live = sys.stdout.isatty() and not as_json
        self._is_open = False

    def show(self, text: str, facts: dict[str, Any]) -> None:
        if self._as_json:
            click.echo(json.dumps(facts))
        elif self._is_live:
            click.echo(f"\r\x1b[K{text}", nl=False)
            self._is_open = True
        else:
            click.echo(text)
        sys.stdout.flush()

    def close(self) -> None:
        """What comes next has a line of its own."""
        if self._is_open:
            click.echo()
            self._is_open = False
