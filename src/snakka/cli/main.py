"""The command `snakka` and its subcommands, one module each."""

from typing import Final

import click

from snakka import __version__
from snakka.cli.lazy import Lazy, LazyGroup

COMMANDS: Final = {
    "serve": Lazy(
        "snakka.cli.serve",
        "serve",
        "Run a broker until Ctrl-C, on a data directory that is made where there is none.",
    ),
    "demo": Lazy(
        "snakka.cli.demo",
        "demo",
        "Show it all: a broker, a topic fed at a steady rate, and a pipeline from it to a table.",
    ),
    "format": Lazy(
        "snakka.cli.format",
        "format_node",
        "Make the log directories of a node ready for a new cluster.",
    ),
    "topics": Lazy("snakka.cli.topics", "topics", "List, create, describe and delete topics."),
    "produce": Lazy(
        "snakka.cli.produce", "produce", "Write records from lines of text, each line one record."
    ),
    "consume": Lazy("snakka.cli.consume", "consume", "Read records to standard output."),
    "groups": Lazy(
        "snakka.cli.groups", "groups", "Look at groups of consumers, their lag, and move them."
    ),
    "configs": Lazy(
        "snakka.cli.configs", "configs", "Show and change settings of topics, brokers and groups."
    ),
    "cluster": Lazy("snakka.cli.cluster", "cluster", "Show what a cluster consists of."),
    "pipeline": Lazy(
        "snakka.cli.pipeline",
        "pipeline",
        "Turn topics into tables, each record once, as a file declares it.",
    ),
    "logs": Lazy(
        "snakka.cli.logs",
        "logs",
        "Look at log segments on disk, all at once, without a broker.",
    ),
    "completion": Lazy(
        "snakka.cli.completion", "completion", "Print a script that completes commands in a shell."
    ),
}


@click.group(
    "snakka", cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="snakka", message="%(prog)s %(version)s")
def main() -> None:
    """A streaming platform that speaks Apache Kafka's protocol.

    \b
    Example:
      snakka serve
      snakka topics create orders -p 3
      echo hello | snakka produce orders
      snakka consume orders -o start -e
    """
