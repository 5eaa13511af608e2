"""The command `snakka` and its subcommands, one module each."""

import click

from snakka import __version__
from snakka.cli.format import format_node
from snakka.cli.serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="snakka", message="%(prog)s %(version)s")
def main() -> None:
    """A streaming platform that speaks Apache Kafka's protocol.

    \b
    Example:
      snakka serve
    """


main.add_command(serve)
main.add_command(format_node)
