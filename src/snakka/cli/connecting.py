"""What all commands that talk to a cluster share: where it is, how long to wait, what goes wrong.

A refusal is one line and exit code 1, wrong usage exit code 2, Ctrl-C exit code 130; never a
traceback.
"""

import asyncio
import functools
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, NoReturn

import click

from snakka.cli.lazy import INTERRUPTED
from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError
from snakka.client.settings import ClientSettings
from snakka.protocol.errors import MalformedError

REFUSED: Final = 1

_DEFAULT_SERVER: Final = "127.0.0.1:9092"

Command = Callable[..., Coroutine[Any, Any, None]]


def on_cluster(command: Command) -> Callable[..., None]:
    """A command that gets a `Cluster` as its first argument, from options that all have."""

    @click.option(
        "-b",
        "--bootstrap-server",
        "servers",
        metavar="HOST:PORT",
        default=_DEFAULT_SERVER,
        show_default=True,
        envvar="SNAKKA_BOOTSTRAP",
        show_envvar=True,
        help="Nodes to begin with, separated by commas.",
    )
    @click.option(
        "--timeout",
        "timeout_s",
        metavar="SECONDS",
        type=click.FloatRange(min=0.1),
        default=10,
        show_default=True,
        help="How long a call may take, with all retries.",
    )
    @functools.wraps(command)
    def run(servers: str, timeout_s: float, **arguments: Any) -> None:
        timeout_ms = round(timeout_s * 1000)
        settings = ClientSettings(
            client_id="snakka-cli",
            socket_connection_setup_timeout_ms=timeout_ms,
            request_timeout_ms=timeout_ms,
            default_api_timeout_ms=timeout_ms,
        )
        try:
            cluster = Cluster(servers, settings)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="'--bootstrap-server'") from None
        _run(command, cluster, arguments)

    return run


def refuse(line: str) -> NoReturn:
    """Ends the command with a line that says why."""
    click.echo(f"snakka: {line}", err=True)
    sys.exit(REFUSED)


def _run(command: Command, cluster: Cluster, arguments: dict[str, Any]) -> None:
    async def within() -> None:
        async with cluster:
            await command(cluster, **arguments)

    try:
        asyncio.run(within())
    except (ClientError, MalformedError) as error:
        refuse(str(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is to be flushed to them at exit.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(REFUSED)
