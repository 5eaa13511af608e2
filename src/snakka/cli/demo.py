"""`snakka demo`: a broker, a topic that is fed, and a declared pipeline that makes a table of it.

Not here: the story beside the broker (demo_story.py), serving (serve.py).
"""

import sys
from pathlib import Path

import click

from snakka.app.ground import StartError
from snakka.cli.demo_story import Story
from snakka.cli.serve import run
from snakka.cli.settings import data_option, load_config, refuse, set_option


@click.command(epilog="Example: snakka demo --once")
@click.option(
    "--once", "is_once", is_flag=True, help="End when the story is told; with 1 if it went wrong."
)
@data_option
@click.option("--listen", default="127.0.0.1:9092", show_default=True, help="HOST:PORT; 0: any.")
@set_option
@click.option(
    "--seconds",
    type=click.IntRange(1, 3600),
    default=20,
    show_default=True,
    help="How long the topic is fed.",
)
@click.option(
    "--rate",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Records per second.",
)
def demo(
    is_once: bool, data: str, listen: str, flags: tuple[str, ...], seconds: int, rate: int
) -> None:
    """Show it all: a broker, a topic fed at a steady rate, and a pipeline from it to a table.

    The pipeline's rows and lag are printed as they move; the broker serves until Ctrl-C.
    """
    config = load_config(None, data, flags, listen)
    directory = Path(data).absolute().with_name("snakka-demo")
    story = Story(directory, seconds=seconds, rate=rate)
    try:
        run(config, beside=story.tell, is_once=is_once)
    except StartError as error:
        refuse(str(error))
    if is_once and story.has_failed:
        sys.exit(1)
