"""`snakka pipeline replay`: a part of a pipeline's records or rows once more, to another topic."""

from typing import TYPE_CHECKING

import click

from snakka.cli.declared import log_option, master_option, on_pipeline
from snakka.cli.output import counted, done, json_option, print_json
from snakka.cli.spark import open_session

if TYPE_CHECKING:
    from snakka.pipeline.declared.declaration import Pipeline


@click.command(
    epilog="Example: snakka pipeline replay orders.toml orders-again"
    """ --starting '{"orders": {"0": 120}}'"""
)
@click.option("--rows", "is_of_rows", is_flag=True, help="The table's rows, not records.")
@click.option(
    "--starting",
    metavar="OFFSETS",
    default="earliest",
    show_default=True,
    help="Or JSON, by topic and partition.",
)
@click.option("--ending", metavar="OFFSETS", default="latest", show_default=True, help="The same.")
@master_option
@log_option
@json_option
@on_pipeline
@click.argument("topic")  # after that of the file
def replay(
    declared: "Pipeline",
    topic: str,
    is_of_rows: bool,
    starting: str,
    ending: str,
    master: str,
    log: str | None,
    as_json: bool,
) -> None:
    """Write a part of a pipeline's sources, or of its table, to another topic, all at once."""
    session = open_session("snakka replay", master, log=log)
    from snakka.pipeline.declared.replaying import replay_records, replay_rows

    write = replay_rows if is_of_rows else replay_records
    count = write(session, declared, topic, starting, ending)
    if as_json:
        print_json({"topic": topic, "records": count})
    else:
        done(f"{counted(count, 'record')} written to {topic}")
