"""`snakka serve`: a broker in the foreground.

Settings come from a file, the environment and flags, each over the one before. What is given
nowhere is what one node on a laptop wants; everything else has Kafka's default.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from snakka.app.ground import StartError
from snakka.app.node import Node, running_node
from snakka.config.broker import BrokerConfig
from snakka.config.loading import load_broker_config
from snakka.config.problems import ConfigurationError
from snakka.config.sources import Setting, from_environment, from_flags, read_file
from snakka.config.standalone import standalone_settings

_USAGE_ERROR: Final = 2
_LOG_FORMAT: Final = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


@click.command(epilog="Example: snakka serve --data ./data --listen 127.0.0.1:9092")
@click.option(
    "--config", "file", type=click.Path(path_type=Path), help="A .properties or TOML file."
)
@click.option("--data", default="snakka-data", show_default=True, help="Where the logs go.")
@click.option("--listen", default="127.0.0.1:9092", show_default=True, help="HOST:PORT; 0: any.")
@click.option("--set", "flags", multiple=True, metavar="KEY=VALUE", help="One of Kafka's settings.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
)
def serve(
    file: Path | None, data: str, listen: str, flags: tuple[str, ...], log_level: str
) -> None:
    """Run a broker until Ctrl-C, on a data directory that is made where there is none."""
    logging.basicConfig(level=log_level.upper(), format=_LOG_FORMAT)
    try:
        config = load_broker_config(_settings(file, data, listen, flags))
    except ConfigurationError as error:
        _refuse(*(str(problem) for problem in error.problems))
    try:
        run(config)
    except StartError as error:
        _refuse(str(error))


def run(config: BrokerConfig) -> None:
    """Serves until SIGINT or SIGTERM, and shuts down cleanly."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(config))


def loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    """uvloop's where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.Loop


async def _serve(config: BrokerConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running_node(config) as node:
        _greet(node)
        await stop.wait()
        click.echo("Shutting down.")


def _greet(node: Node) -> None:
    address = f"{node.host}:{node.port}"
    click.echo(f"Snakka serves Kafka clients at {click.style(address, bold=True)}")
    click.echo(f"  data    {os.path.abspath(node.directory)}")
    click.echo(f"  cluster {node.cluster_id}")
    click.echo(f"  try     kcat -b {address} -L")
    sys.stdout.flush()


def _settings(file: Path | None, data: str, listen: str, flags: Sequence[str]) -> Iterator[Setting]:
    host, _, port = listen.rpartition(":")
    yield from standalone_settings(host or "127.0.0.1", int(port))
    yield Setting("log.dirs", data, "--data")
    if file is not None:
        yield from read_file(file)
    yield from from_environment(os.environ)
    yield from from_flags(flags)


def _refuse(*lines: str) -> None:
    for line in lines:
        click.echo(f"snakka: {line}", err=True)
    sys.exit(_USAGE_ERROR)
