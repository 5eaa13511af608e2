"""`snakka pipeline compact`, `expire` and `sweep`: upkeep of a pipeline's table, while it runs."""

import time
from typing import TYPE_CHECKING

import click

from snakka.cli.declared import log_option, master_option, on_pipeline
from snakka.cli.output import counted, done, json_option, print_json
from snakka.cli.parsing import parsed
from snakka.cli.spark import open_session

if TYPE_CHECKING:
    from snakka.pipeline.declared.declaration import Pipeline
    from snakka.pipeline.tables.table import Swept, Table


def _size_bytes(text: str) -> int:
    from snakka.pipeline.option_values import size_bytes

    return size_bytes(text)


def _duration_ms(text: str) -> int:
    from snakka.pipeline.option_values import duration_ms

    return duration_ms(text)


_older_than_option = click.option(
    "--older-than",
    "age_ms",
    metavar="DURATION",
    default="168h",
    show_default=True,
    callback=parsed(_duration_ms),
    help="Such as 90m or 168h.",
)


@click.command(epilog="Example: snakka pipeline compact orders.toml --target-size 256m")
@click.option(
    "--target-size",
    "target_bytes",
    metavar="SIZE",
    default="128m",
    show_default=True,
    callback=parsed(_size_bytes),
    help="Of a file, about.",
)
@master_option
@log_option
@json_option
@on_pipeline
def compact(
    declared: "Pipeline", target_bytes: int, master: str, log: str | None, as_json: bool
) -> None:
    """Put the small files of a pipeline's table together; the pipeline may go on."""
    table = _table_of(declared)
    session = open_session("snakka compact", master, log=log)
    _tell(table.compact(session, target_bytes), as_json)


@click.command(epilog="Example: snakka pipeline expire orders.toml --older-than 720h")
@_older_than_option
@json_option
@on_pipeline
def expire(declared: "Pipeline", age_ms: int, as_json: bool) -> None:
    """Forget the old versions of a pipeline's table, with the files that only they had."""
    _tell(_table_of(declared).expire(_now_ms() - age_ms), as_json)


@click.command(epilog="Example: snakka pipeline sweep orders.toml")
@_older_than_option
@json_option
@on_pipeline
def sweep(declared: "Pipeline", age_ms: int, as_json: bool) -> None:
    """Delete files that no version of the table has: what a killed run has left.

    Files younger than DURATION may be those of a run under way.
    """
    _tell(_table_of(declared).sweep(_now_ms() - age_ms), as_json)


def _table_of(declared: "Pipeline") -> "Table":
    from snakka.pipeline.errors import OptionError
    from snakka.pipeline.tables.opening import table_for
    from snakka.pipeline.tables.table import TableOptions

    if not isinstance(declared.target, TableOptions):
        raise OptionError("table: the pipeline has none; its rows go to topics")
    return table_for(declared.target)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _tell(swept: "Swept", as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "removed_files": swept.removed_file_count,
                "added_files": swept.added_file_count,
                "removed_bytes": swept.removed_bytes,
            }
        )
        return
    removed = counted(swept.removed_file_count, "file")
    added = f", {swept.added_file_count:,} in their place" if swept.added_file_count else ""
    done(f"{removed} of {swept.removed_bytes:,} bytes removed{added}")
