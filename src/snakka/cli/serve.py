"""`snakka serve`: a broker in the foreground."""

import asyncio
import gc
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from snakka.app.ground import StartError
from snakka.app.node import Node, running_node
from snakka.cli.log_lines import JSON, TEXT, write_log
from snakka.cli.settings import data_option, load_config, refuse, set_option
from snakka.config.broker import BrokerConfig

Beside = Callable[[Node], Coroutine[Any, Any, None]]

_FAILED: Final = 1


@click.command(epilog="Example: snakka serve --data ./data --listen 127.0.0.1:9092")
@click.option(
    "--config", "file", type=click.Path(path_type=Path), help="A .properties or TOML file."
)
@data_option
@click.option("--listen", default="127.0.0.1:9092", show_default=True, help="HOST:PORT; 0: any.")
@set_option
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
)
@click.option(
    "--log-format",
    type=click.Choice([TEXT, JSON]),
    default=TEXT,
    show_default=True,
    help="json: one document a line.",
)
def serve(
    file: Path | None,
    data: str,
    listen: str,
    flags: tuple[str, ...],
    log_level: str,
    log_format: str,
) -> None:
    """Run a broker until Ctrl-C, on a data directory that is made where there is none."""
    write_log(log_level, log_format)
    config = load_config(file, data, flags, listen)
    try:
        run(config)
    except StartError as error:
        refuse(str(error))


def run(config: BrokerConfig, beside: Beside | None = None, *, is_once: bool = False) -> None:
    """Serves until SIGINT or SIGTERM, and shuts down cleanly.

    `beside` is done meanwhile; with `is_once` its end is that of serving, too.
    """
    _raise_open_files_limit()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(config, beside, is_once=is_once))


def _raise_open_files_limit() -> None:
    """As far as the system lets it, for connections and segments: the JVM does the same."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    """uvloop's where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.Loop


async def _serve(config: BrokerConfig, beside: Beside | None, *, is_once: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running_node(config) as node:
        gc.freeze()  # what is here for good need not be looked through again and again
        _greet(node)
        node.failure.add_done_callback(lambda _: stop.set())
        async with _doing(beside, node, stop if is_once else None):
            await stop.wait()
        if node.failure.done():
            _halt(node.failure.result())
        click.echo("Shutting down.")


@asynccontextmanager
async def _doing(
    beside: Beside | None, node: Node, ended: asyncio.Event | None
) -> AsyncIterator[None]:
    """Something beside serving; the event is set at its end."""
    if beside is None:
        yield
        return
    task = asyncio.create_task(beside(node))
    if ended is not None:
        task.add_done_callback(lambda _: ended.set())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _halt(reason: str) -> NoReturn:
    """As Kafka does: shutting down would write to disks that cannot be trusted any more."""
    click.echo(f"snakka: {reason}", err=True)
    sys.stderr.flush()
    os._exit(_FAILED)


def _greet(node: Node) -> None:
    address = f"{node.host}:{node.port}"
    whom = "Kafka clients" if node.is_broker else "the cluster's nodes"
    click.echo(f"Snakka serves {whom} at {click.style(address, bold=True)}")
    click.echo(f"  data    {os.path.abspath(node.directory)}")
    click.echo(f"  cluster {node.cluster_id}")
    if node.is_broker:
        click.echo(f"  try     kcat -b {address} -L")
    sys.stdout.flush()
