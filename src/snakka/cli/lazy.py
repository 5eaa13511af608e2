"""Subcommands that are imported when they are called: a client need not load a broker."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

INTERRUPTED: Final = 130  # as shells have it for Ctrl-C


class Lazy(NamedTuple):
    """Where a command is, and the line that the list of commands shows of it."""

    module: str
    attribute: str
    help: str


class LazyGroup(click.Group):
    """Commands of modules that are imported one by one."""

    def __init__(self, *, lazy: Mapping[str, Lazy], **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._lazy = lazy

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """As click's, but a wrong use is told in one line, as all else that goes wrong is."""
        try:
            status = super().main(*arguments, **options | {"standalone_mode": False})
        except click.ClickException as error:
            if "\n" in error.format_message():  # the help, where no command was given
                error.show()
                sys.exit(error.exit_code)
            context = error.ctx if isinstance(error, click.UsageError) else None
            hint = f" (see `{context.command_path} --help`)" if context is not None else ""
            click.echo(f"{self.name}: {error.format_message().rstrip('.')}{hint}", err=True)
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(status if isinstance(status, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self._lazy.get(cmd_name)
        if lazy is None:
            return None
        command: click.Command = getattr(import_module(lazy.module), lazy.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.help) for name, lazy in self._lazy.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = [
            CompletionItem(name, help=lazy.help)
            for name, lazy in self._lazy.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)
