"""`snakka logs`: an operator's questions about segments on disk, answered by Spark."""

import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click

from snakka.cli.connecting import refuse
from snakka.cli.output import counted, done, json_option, print_json, print_table, warning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from snakka.pipeline.segments.listing import SegmentFile

_P = ParamSpec("_P")
Job = Callable[Concatenate["SparkSession", "Sequence[SegmentFile]", _P], None]


@click.group()
def logs() -> None:
    """Look at log segments on disk, all at once, without a broker.

    DIRECTORY is a log directory, of Snakka or Apache Kafka, or that of a tier. Spark reads the
    segments in parallel; a broker may go on writing to them.

    \b
    Example:
      snakka logs usage snakka-data
    """


def _expression(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise click.BadParameter(f"{text!r} is no regular expression: {error}") from None


def _on_segments(job: Job[_P]) -> Callable[..., None]:
    """Hands a session and the segments of the directories to a job."""

    @click.argument(
        "directories",
        metavar="DIRECTORY...",
        nargs=-1,
        required=True,
        type=click.Path(exists=True, file_okay=False, resolve_path=True),
    )
    @click.option(
        "--topics",
        metavar="REGEX",
        callback=_expression,
        help="Of topics whose whole name matches only.",
    )
    @click.option(
        "--master",
        metavar="URL",
        default="local[*]",
        show_default=True,
        help="Where Spark runs; the directories have to be there.",
    )
    @wraps(job)
    def run(
        directories: tuple[str, ...],
        topics: re.Pattern[str] | None,
        master: str,
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> None:
        try:
            from snakka.pipeline.segments.listing import find_segments
            from snakka.pipeline.session import spark_session
        except ImportError as error:
            refuse(f"{error.name} is missing: pip install 'snakka[spark]'")
        segments = find_segments(directories, topics)
        if not segments:
            refuse(f"no segments in {' '.join(directories)}")
        progress = {"spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower()}
        session = spark_session("snakka logs", master, progress)
        job(session, segments, *arguments, **options)

    return run


@logs.command(epilog="Example: snakka logs usage /var/lib/kafka --topics 'orders.*'")
@json_option
@_on_segments
def usage(spark: "SparkSession", segments: "Sequence[SegmentFile]", as_json: bool) -> None:
    """Show what each topic takes, and how evenly it lies in its partitions.

    SKEW is the largest partition's size, divided by the mean.
    """
    from snakka.pipeline.segments import jobs

    rows = [row.asDict() for row in jobs.usage(spark, segments).collect()]
    if as_json:
        print_json([each | _times(each, "oldest", "newest") for each in rows])
        return
    print_table(
        ["TOPIC", ">PARTITIONS", ">SEGMENTS", ">RECORDS", ">BYTES", ">SKEW", "NEWEST", "CODECS"],
        [
            (
                each["topic"],
                each["partition_count"],
                each["segment_count"],
                f"{each['record_count']:,}",
                f"{each['size_bytes']:,}",
                f"{each['skew']:.2f}",
                each["newest"],
                each["codecs"],
            )
            for each in rows
        ],
    )
    _tell_damaged(rows)


@logs.command(epilog="Example: snakka logs keys snakka-data --top 3")
@click.option(
    "--top", type=click.IntRange(1, 1000), default=10, show_default=True, help="Keys of a topic."
)
@json_option
@_on_segments
def keys(spark: "SparkSession", segments: "Sequence[SegmentFile]", top: int, as_json: bool) -> None:
    """Show the keys with the most records, and their share."""
    from snakka.pipeline.segments import jobs

    rows = [row.asDict() for row in jobs.key_skew(spark, segments, top).collect()]
    shown = [each | {"key": bytes(each["key"]).decode(errors="backslashreplace")} for each in rows]
    if as_json:
        print_json(shown)
        return
    print_table(
        ["TOPIC", ">KEYS", ">RANK", "KEY", ">RECORDS", ">BYTES", ">SHARE"],
        [
            (
                each["topic"],
                f"{each['key_count']:,}",
                each["rank"],
                each["key"],
                f"{each['record_count']:,}",
                f"{each['size_bytes']:,}",
                f"{each['share']:.1%}",
            )
            for each in shown
        ],
    )


@logs.command(epilog="Example: snakka logs compaction snakka-data")
@json_option
@_on_segments
def compaction(spark: "SparkSession", segments: "Sequence[SegmentFile]", as_json: bool) -> None:
    """Show what compaction would leave of each topic.

    Sizes are of keys and values, before compression.
    """
    from snakka.pipeline.segments import jobs

    rows = [row.asDict() for row in jobs.compaction_gain(spark, segments).collect()]
    if as_json:
        print_json(rows)
        return
    print_table(
        ["TOPIC", ">RECORDS", ">WITHOUT KEY", ">KEYS", ">KEPT", ">BYTES", ">KEPT BYTES", ">GAIN"],
        [
            (
                each["topic"],
                f"{each['record_count']:,}",
                f"{each['keyless_count']:,}",
                f"{each['key_count']:,}",
                f"{each['kept_count']:,}",
                f"{each['size_bytes']:,}",
                f"{each['kept_bytes']:,}",
                "-" if each["gain"] is None else f"{each['gain']:.1%}",
            )
            for each in rows
        ],
    )
    _tell_damaged(rows)


@logs.command(epilog="Example: snakka logs check /var/lib/kafka --json")
@json_option
@_on_segments
def check(spark: "SparkSession", segments: "Sequence[SegmentFile]", as_json: bool) -> None:
    """Check every batch and index entry of every segment; ends with 1 where something is wrong."""
    from snakka.pipeline.segments import jobs

    rows = [row.asDict(recursive=True) for row in jobs.check(spark, segments).collect()]
    problems = [problem for row in rows for problem in row["problems"]]
    records = sum(row["record_count"] for row in rows)
    if as_json:
        print_json(rows)
    elif problems:
        print_table(
            ["FILE", ">POSITION", "PROBLEM"],
            [(each["path"], each["position"], warning(each["reason"])) for each in problems],
        )
    else:
        done(f"{counted(len(rows), 'segment')} with {counted(records, 'record')}, all sound")
    if problems:
        refuse(f"{counted(len(problems), 'problem')} in {counted(len(rows), 'segment')}")


def _times(row: dict[str, Any], *names: str) -> dict[str, str | None]:
    return {name: row[name] and row[name].isoformat() + "Z" for name in names}


def _tell_damaged(rows: Sequence[dict[str, Any]]) -> None:
    damaged = sum(each["damaged_segment_count"] for each in rows)
    if damaged:
        which = f"{counted(damaged, 'segment')} could not be read to the end"
        click.echo(f"snakka: {which}: `snakka logs check` says where", err=True)
