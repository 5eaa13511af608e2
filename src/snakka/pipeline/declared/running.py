"""A pipeline at work: micro-batches of its sources, each added to the target in one step.

The source's offsets are part of the target's commit. Spark's checkpoint is used where it agrees
with them (checkpoint.py); a micro-batch that is in the target already, since a crash came between
the target's commit and the checkpoint's, is passed over.

Not here: what becomes of records (planning.py), telling of progress (cli/pipeline_run.py).
"""

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from snakka.pipeline.declared.applications import APPLICATION_PREFIX, Application
from snakka.pipeline.declared.checkpoint import Checkpoint, holds
from snakka.pipeline.declared.dead_letters import DeadLetters, Halt, Rejects
from snakka.pipeline.declared.declaration import Pipeline
from snakka.pipeline.declared.logs import SourceLogs
from snakka.pipeline.declared.planning import Plan, plan
from snakka.pipeline.declared.targets import target_of
from snakka.pipeline.offsets import Offsets, to_json
from snakka.pipeline.option_values import client_options
from snakka.pipeline.tables.table import Step

STOP_PATIENCE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class StepDone:
    """One micro-batch that is in the target."""

    batch_id: int
    row_count: int
    rejected_count: int
    file_count: int | None
    version: int | None
    lag: int | None  # offsets that are left to read
    duration_s: float


class StoppedError(Exception):
    """The pipeline was told to end before this micro-batch began."""


def _nobody(_: StepDone) -> None:
    """Nobody wants to know."""


class Runner:
    """One run of a pipeline. `notes` is what its user should know of how it began."""

    def __init__(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        tell: Callable[[StepDone], None] = _nobody,
    ) -> None:
        self._spark = spark
        self._pipeline = pipeline
        self._plan: Plan = plan(spark, pipeline)
        self._tell = tell
        self._logs = SourceLogs(pipeline)
        self._target = target_of(pipeline)
        self._rejects = rejects_of(pipeline)
        self._working = threading.Lock()
        self._is_stopped = False
        self._scratch: str | None = None
        self._query: StreamingQuery
        self._checkpoint: Checkpoint
        self._found: Offsets | None = None
        self._position: Offsets = {}
        self.notes: list[str] = []
        self.failure: Exception | None = None  # what has stopped it

    def start(self, *, is_once: bool = False) -> StreamingQuery:
        """Begins to read; with `is_once` the query ends when all that is there now is read."""
        self._found = self._target.take_over()
        self._position = self._logs.find_start() if self._found is None else self._found
        self._checkpoint = self._open_checkpoint()
        writer = self._read().writeStream.foreachBatch(self._process)
        writer = writer.option("checkpointLocation", self._checkpoint.location)
        writer = writer.queryName(self._pipeline.name)
        if is_once:
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(processingTime=f"{self._pipeline.trigger_ms} milliseconds")
        self._query = writer.start()
        return self._query

    def stop(self) -> None:
        """Ends the query, between two micro-batches if they do not take long."""
        is_between = self._working.acquire(timeout=STOP_PATIENCE_S)
        self._is_stopped = True
        try:
            self._query.stop()
        finally:
            if is_between:
                self._working.release()
            if self._scratch is not None:
                shutil.rmtree(self._scratch, ignore_errors=True)

    def run(self) -> None:
        """Reads all that is there, and returns; what went wrong is raised."""
        query = self.start(is_once=True)
        try:
            query.awaitTermination()
        except Exception:
            if self.failure is not None:
                raise self.failure from None
            raise
        finally:
            self.stop()

    def _open_checkpoint(self) -> Checkpoint:
        location = self._pipeline.checkpoint
        if location is None:
            self._scratch = tempfile.mkdtemp(prefix="snakka-checkpoint-")
            location = self._scratch
        checkpoint = Checkpoint(self._spark, location)
        if not checkpoint.agrees_with(self._found, self._pipeline.topics):
            aside = checkpoint.put_aside()
            self.notes.append(
                f"the checkpoint has other offsets than the target: it is now {aside}, and the"
                " pipeline goes on from the target's"
            )
        return checkpoint

    def _read(self) -> DataFrame:
        first = self._logs.state().first
        # A partition that is new since the last step is read from its beginning.
        start = {where: self._position.get(where, offset) for where, offset in first.items()}
        options = {
            **self._logs.reading_options,
            "subscribe": ",".join(self._pipeline.topics),
            "startingOffsets": json.dumps(to_json(start)),
        }
        return self._spark.readStream.format("snakka").options(**options).load()

    def _process(self, records: DataFrame, batch_id: int) -> None:
        with self._working:
            if self._is_stopped:  # a micro-batch that has waited for the lock: it is not to begin
                raise StoppedError
            try:
                self._add(records, batch_id)
            except Exception as error:
                self.failure = error
                raise

    def _add(self, records: DataFrame, batch_id: int) -> None:
        began_at_s = time.monotonic()
        end = {**self._position, **self._checkpoint.end_of(batch_id)}
        if self._found is not None and holds(self._found, end):
            self._position = end  # it was added before a crash, or is empty
            return
        step = Step(self._pipeline.name, self._position, end)
        if len(self._pipeline.sources) > 1:
            records = records.persist()  # each source picks its own
        decoded = self._plan.decode(records)
        if self._plan.may_reject:
            decoded = decoded.persist()  # it is gone through more than once
        try:
            shaped = self._plan.shape(decoded)
            rejected = shaped.rejected
            rejected_count = 0 if rejected is None else self._rejects.write(rejected, step)
            written = self._target.append(shaped.kept, step)
        finally:
            decoded.unpersist()
            records.unpersist()
        self._found = self._position = end
        self._logs.commit(end)
        self._tell(
            StepDone(
                batch_id=batch_id,
                row_count=written.row_count,
                rejected_count=rejected_count,
                file_count=written.file_count,
                version=written.version,
                lag=self._logs.find_lag(end),
                duration_s=time.monotonic() - began_at_s,
            )
        )


def rejects_of(pipeline: Pipeline) -> Rejects:
    if pipeline.dead_letter_topic is None:
        return Halt()
    application = Application(
        f"{APPLICATION_PREFIX}{pipeline.name}-dead-letters", client_options(pipeline.options)
    )
    return DeadLetters(pipeline.dead_letter_topic, application)
