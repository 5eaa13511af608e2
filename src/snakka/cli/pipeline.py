"""`snakka pipeline`: topics to tables and to topics, as a file declares it."""

import queue
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec

import click

from snakka.cli.connecting import refuse
from snakka.cli.output import counted, done, json_option, print_json, print_table, warning
from snakka.cli.progress_line import ProgressLine
from snakka.cli.settings import refuse as refuse_declaration
from snakka.cli.spark import open_session
from snakka.client.errors import ClientError
from snakka.config.problems import ConfigurationError

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from snakka.pipeline.declared.audit import Audit
    from snakka.pipeline.declared.declaration import Pipeline
    from snakka.pipeline.declared.running import Runner, StepDone

_P = ParamSpec("_P")
_POLL_S: Final = 0.2
# The last line of a traceback that Spark hands over as text.
_OUR_ERROR: Final = re.compile(r"^\s*snakka\.[\w.]+: (.+)$", re.MULTILINE)


@click.group()
def pipeline() -> None:
    """Turn topics into tables, each record once, as a TOML file declares it.

    \b
    Example:
      snakka pipeline run orders.toml
    """


def _on_pipeline(command: "Callable[Concatenate[Pipeline, _P], None]") -> Callable[..., None]:
    """Hands a command the pipeline of its file, and says in one line what goes wrong."""

    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @wraps(command)
    def run(file: Path, *arguments: _P.args, **options: _P.kwargs) -> None:
        try:
            from snakka.pipeline.declared.declaration_file import load_pipeline
            from snakka.pipeline.errors import OptionError, SchemaError
        except ImportError as error:
            refuse(f"{error.name} is missing: pip install 'snakka[tables]'")
        try:
            command(load_pipeline(file), *arguments, **options)
        except ConfigurationError as error:
            refuse_declaration(*map(str, error.problems))
        except (OptionError, SchemaError) as error:
            refuse_declaration(f"{file}: {error}")
        except ClientError as error:
            refuse(str(error))

    return run


_master_option = click.option(
    "--master", metavar="URL", default="local[*]", show_default=True, help="Where Spark runs."
)
_log_option = click.option(
    "--spark-log", "log", metavar="PATH", help="Where Spark's own log goes; nowhere if not given."
)


@pipeline.command(epilog="Example: snakka pipeline run orders.toml --once")
@click.option("--once", "is_once", is_flag=True, help="End when all that is there now is read.")
@_master_option
@_log_option
@json_option
@_on_pipeline
def run(declared: "Pipeline", is_once: bool, master: str, log: str | None, as_json: bool) -> None:
    """Run a pipeline until Ctrl-C, with a line for each micro-batch.

    Started again it goes on from the offsets that are in its table, whatever has ended it.
    """
    session = open_session(f"snakka {declared.name}", master, log=log)
    from snakka.pipeline.declared.running import Runner

    steps: queue.SimpleQueue[StepDone] = queue.SimpleQueue()
    with _told_to_stop() as is_told:
        runner = Runner(session, declared, steps.put)
        query = runner.start(is_once=is_once)
        for each in runner.notes:
            click.echo(f"snakka: {each}", err=True)
        try:
            _follow(query, steps, ProgressLine(as_json=as_json), is_told)
        finally:
            runner.stop()
    _tell_failure(runner, query)


def _follow(
    query: "StreamingQuery",
    steps: "queue.SimpleQueue[StepDone]",
    line: ProgressLine,
    is_told: Callable[[], bool],
) -> None:
    """Shows the steps as they are done, until the query ends or is to end."""
    rows = 0
    while True:
        is_active = query.isActive and not is_told()
        try:
            step = steps.get(timeout=_POLL_S if is_active else 0)
        except queue.Empty:
            if is_active:
                continue
            break
        rows += step.row_count
        line.show(_shown(step, rows), _facts(step))
    line.close()


def _shown(step: "StepDone", rows: int) -> str:
    rejected = f", {step.rejected_count:,} rejected" if step.rejected_count else ""
    lag = "?" if step.lag is None else f"{step.lag:,}"
    return (
        f"batch {step.batch_id}: {counted(step.row_count, 'row')}{rejected} in"
        f" {step.duration_s:.2f} s, {step.row_count / step.duration_s:,.0f} rows/s, lag {lag};"
        f" {rows:,} in all"
    )


def _facts(step: "StepDone") -> dict[str, Any]:
    return {
        "batch": step.batch_id,
        "rows": step.row_count,
        "rejected": step.rejected_count,
        "rows_per_s": round(step.row_count / step.duration_s, 1),
        "lag": step.lag,
        "duration_s": round(step.duration_s, 3),
        "version": step.version,
        "files": step.file_count,
    }


@contextmanager
def _told_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, or SIGTERM sent: the step under way is not to be cut short."""
    told: list[int] = []
    before = {
        each: signal.signal(each, lambda number, _: told.append(number))
        for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: bool(told)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_failure(runner: "Runner", query: "StreamingQuery") -> None:
    if runner.failure is not None:
        refuse(one_line(runner.failure))
    failure = query.exception()
    if failure is not None:
        refuse(one_line(failure))


def one_line(error: BaseException) -> str:
    """What an error says, or what an error of ours says that Spark has wrapped in others."""
    text = str(error).strip()
    found = _OUR_ERROR.findall(text)
    lines = found[-1:] or text.splitlines()[:1] or [type(error).__name__]
    return str(lines[0]).strip()


@pipeline.command(epilog="Example: snakka pipeline status orders.toml --json")
@json_option
@_on_pipeline
def status(declared: "Pipeline", as_json: bool) -> None:
    """Show how far a pipeline is: the offsets in its table and the ends of its topics."""
    from snakka.pipeline.declared.status import status as find_status

    found = find_status(declared)
    if as_json:
        print_json(
            [
                {
                    "topic": each.where.topic,
                    "partition": each.where.partition,
                    "first_offset": each.first_offset,
                    "offset": each.offset,
                    "end_offset": each.end_offset,
                    "lag": each.lag,
                    "lost": each.lost,
                }
                for each in found
            ]
        )
        return
    print_table(
        ["TOPIC", ">PARTITION", ">OFFSET", ">END", ">LAG", ">LOST"],
        [
            (
                each.where.topic,
                each.where.partition,
                each.offset,
                each.end_offset,
                f"{each.lag:,}",
                warning(f"{each.lost:,}") if each.lost else "0",
            )
            for each in found
        ],
    )


@pipeline.command(epilog="Example: snakka pipeline audit orders.toml --contents")
@click.option("--contents", is_flag=True, help="Compare what is in the rows, too.")
@_master_option
@_log_option
@json_option
@_on_pipeline
def audit(
    declared: "Pipeline", contents: bool, master: str, log: str | None, as_json: bool
) -> None:
    """Check that each record is in the table once, or a dead letter once; ends with 1 if not.

    Records are taken through the pipeline again, so what its transformation filters out is no gap.
    """
    session = open_session("snakka audit", master, log=log)
    from snakka.pipeline.declared.audit import audit as find_audit

    found = find_audit(session, declared, with_contents=contents)
    if as_json:
        print_json(_audit_document(found))
    else:
        _print_audit(found)
    if found.findings:
        wrong = sum(each.record_count for each in found.findings)
        refuse(f"{counted(wrong, 'record')} in {counted(len(found.findings), 'range')}")


def _audit_document(found: "Audit") -> dict[str, Any]:
    return {
        "partitions": [
            {
                "topic": each.range.where.topic,
                "partition": each.range.where.partition,
                "start": each.range.start,
                "end": each.range.end,
                "records": each.record_count,
                "rows": each.row_count,
                "rejected": each.rejected_count,
                "checksum": f"{each.checksum:016x}",
            }
            for each in found.partitions
        ],
        "findings": [
            {
                "what": each.what,
                "topic": each.range.where.topic,
                "partition": each.range.where.partition,
                "start": each.range.start,
                "end": each.range.end,
                "records": each.record_count,
            }
            for each in found.findings
        ],
    }


def _print_audit(found: "Audit") -> None:
    if found.findings:
        print_table(
            ["OFFSETS", ">RECORDS", "WHAT"],
            [(each.range, f"{each.record_count:,}", warning(each.what)) for each in found.findings],
        )
        sys.stdout.flush()
        return
    print_table(
        ["TOPIC", ">PARTITION", ">FROM", ">TO", ">RECORDS", ">ROWS", ">REJECTED", "CHECKSUM"],
        [
            (
                each.range.where.topic,
                each.range.where.partition,
                each.range.start,
                each.range.end,
                f"{each.record_count:,}",
                f"{each.row_count:,}",
                f"{each.rejected_count:,}",
                f"{each.checksum:016x}",
            )
            for each in found.partitions
        ],
    )
    rows = sum(each.row_count for each in found.partitions)
    done(f"{counted(rows, 'row')}, each record where it belongs, once")
