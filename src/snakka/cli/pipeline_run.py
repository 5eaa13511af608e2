"""`snakka pipeline run`: a line for each micro-batch, until it is told to stop."""

import queue
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from snakka.cli.connecting import refuse
from snakka.cli.declared import log_option, master_option, on_pipeline, one_line
from snakka.cli.output import counted, json_option
from snakka.cli.progress_line import ProgressLine
from snakka.cli.spark import open_session

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from snakka.pipeline.declared.declaration import Pipeline
    from snakka.pipeline.declared.running import Runner, StepDone

_POLL_S: Final = 0.2


@click.command(epilog="Example: snakka pipeline run orders.toml --once")
@click.option("--once", "is_once", is_flag=True, help="End when all that is there now is read.")
@master_option
@log_option
@json_option
@on_pipeline
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
        if is_told():
            return  # what was cut short is no failure: it is done anew the next time
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
