"""`snakka pipeline`: topics to tables and to topics, as a file declares it."""

from typing import Final

import click

from snakka.cli.lazy import Lazy, LazyGroup

COMMANDS: Final = {
    "run": Lazy(
        "snakka.cli.pipeline_run",
        "run",
        "Run a pipeline until Ctrl-C, with a line for each micro-batch.",
    ),
    "status": Lazy(
        "snakka.cli.pipeline_audit",
        "status",
        "Show how far a pipeline is: the offsets in its table and the ends of its topics.",
    ),
    "audit": Lazy(
        "snakka.cli.pipeline_audit",
        "audit",
        "Check that each record is in the table once, or a dead letter once; ends with 1 if not.",
    ),
    "replay": Lazy(
        "snakka.cli.pipeline_replay",
        "replay",
        "Write a part of a pipeline's sources, or of its table, to another topic, all at once.",
    ),
    "compact": Lazy(
        "snakka.cli.pipeline_upkeep",
        "compact",
        "Put the small files of a pipeline's table together; the pipeline may go on.",
    ),
    "expire": Lazy(
        "snakka.cli.pipeline_upkeep",
        "expire",
        "Forget the old versions of a pipeline's table, with the files that only they had.",
    ),
    "sweep": Lazy(
        "snakka.cli.pipeline_upkeep",
        "sweep",
        "Delete files that no version of the table has: what a killed run has left.",
    ),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def pipeline() -> None:
    """Turn topics into tables, each record once, as a file declares it.

    \b
    Example:
      snakka pipeline run orders.toml
    """
