"""The data source `snakka` as Spark calls it, for batch and streaming reads.

Spark makes the reader of a batch in a process of its own and lets it plan; the reader of a stream
stays in one process as long as the query runs. Both are sent to the executors for their `read`,
so they hold no connection before they are first asked.

Not here: what is read (source_planner.py), how (reading.py).
"""

import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition

from snakka.client.errors import ClientError
from snakka.pipeline.admission import NO_LIMITS
from snakka.pipeline.broker import commit_progress
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread, connect
from snakka.pipeline.fetching import ReadRules
from snakka.pipeline.offsets import Offsets, from_json, to_json
from snakka.pipeline.options import SourceOptions, check_batch, check_stream
from snakka.pipeline.planning import Slice
from snakka.pipeline.pushdown import Bounds
from snakka.pipeline.reading import read_slices
from snakka.pipeline.source_planner import LogState, SourcePlanner, limits_of
from snakka.pipeline.spark_filters import conditions
from snakka.pipeline.spark_streaming import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from snakka.pipeline.worker import settle_in

_LOG: Final = logging.getLogger(__name__)

SparkOffsets = dict[str, dict[str, int]]


class SlicesPartition(InputPartition):
    """What one task reads."""

    def __init__(self, slices: tuple[Slice, ...]) -> None:
        super().__init__(slices)


class _Reader:
    """What the readers of batches and of streams have in common."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._address = ClusterAddress(options.bootstrap_servers, options.client_settings)
        self._planner: SourcePlanner | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_planner": None}

    def _thread(self) -> ClusterThread:
        return connect(self._address)

    def _plan(self) -> SourcePlanner:
        if self._planner is None:
            self._planner = SourcePlanner(self._thread().cluster, self._options)
        return self._planner

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        settle_in()
        # Where a plan has no slices Spark makes a task of its own, with nothing to read.
        if not isinstance(partition, SlicesPartition):
            return iter(())
        return read_slices(
            self._thread(),
            partition.value,
            ReadRules(self._options.is_read_committed, self._options.fail_on_data_loss),
            include_headers=self._options.include_headers,
        )


class BatchReader(_Reader, DataSourceReader):
    """Reads from one position to another."""

    def __init__(self, options: SourceOptions) -> None:
        super().__init__(options)
        self._starting = check_batch(options)
        self._bounds = Bounds()

    def partitions(self) -> list[InputPartition]:
        plan = self._plan().plan_batch(self._starting, self._bounds)
        return [SlicesPartition(each) for each in self._thread().run(plan)]


class FilteringBatchReader(BatchReader):
    """Reads less where the query's conditions say so.

    Only where the user asks for it: Spark (4.1 to 4.3) plans a DataFrame once, with the filters of
    the first query, and reads that for every other query of the same DataFrame.
    """

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802
        for each in filters:
            for condition in conditions(each):
                self._bounds.narrow(condition)
        return filters  # bounds may be too wide


class StreamReader(_Reader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads on from where the last micro-batch ended."""

    def __init__(self, options: SourceOptions) -> None:
        super().__init__(options)
        self._starting = check_stream(options)
        self._state: LogState | None = None
        self._target: Offsets | None = None  # where Trigger.AvailableNow ends
        self._end: Offsets | None = None  # of the last micro-batch
        self._admitted_at_s = time.monotonic()

    def initialOffset(self) -> SparkOffsets:  # noqa: N802
        state = self._look()
        return to_json(self._thread().run(self._plan().find_start(self._starting, state)))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """What Spark hands to latestOffset, unless its trigger is to read everything."""
        options = self._options
        if options.max_rows_per_trigger is not None:
            return ReadMaxRows(options.max_rows_per_trigger)
        if options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(options.max_bytes_per_trigger)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._look().last

    def latestOffset(  # noqa: N802
        self, start: SparkOffsets | None = None, limit: ReadLimit | None = None
    ) -> SparkOffsets:
        """Where the next micro-batch ends.

        Before Spark 4.2 neither argument is given: the end of the last micro-batch serves, which is
        known from the second one of a run on.
        """
        begin = self._end if start is None else from_json(start)
        state = self._look()
        end = state.last if self._target is None else self._target
        if begin is not None:
            self._plan().gone(begin, state)
            # A log that was cut (a leader that lost its records) does not take a query back.
            end = {where: max(to, begin.get(where, to)) for where, to in end.items()}
            if self._is_too_little(begin, end):
                end = begin
            elif not isinstance(limit, ReadAllAvailable) or start is None:
                limits = limits_of(self._options)
                if limits != NO_LIMITS:
                    admitted = self._plan().admit(begin, end, limits, state)
                    end = self._thread().run(admitted)
        return to_json(end)

    def reportLatestOffset(self) -> SparkOffsets | None:  # noqa: N802
        return None if self._state is None else to_json(self._state.last)

    def partitions(self, start: SparkOffsets, end: SparkOffsets) -> list[InputPartition]:
        begin, self._end = from_json(start), from_json(end)
        if self._state is None or not self._end.keys() <= self._state.last.keys():
            self._state = self._thread().run(self._plan().look(self._end))
        tasks = self._plan().plan_micro_batch(begin, self._end, self._state)
        return [SlicesPartition(each) for each in tasks]

    def commit(self, end: SparkOffsets) -> None:
        """The micro-batch up to `end` is in the sink."""
        if self._options.group_id is None:
            return
        work = commit_progress(self._thread().cluster, self._options.group_id, from_json(end))
        try:
            self._thread().run(work)
        except ClientError as error:
            # The query's own offsets are in its checkpoint: what others see of them may be late.
            _LOG.warning("progress of group %s: %s", self._options.group_id, error)

    def stop(self) -> None:
        """Nothing to do: the process ends, and its connections with it."""

    def _look(self) -> LogState:
        self._state = self._thread().run(self._plan().look())
        return self._state

    def _is_too_little(self, begin: Offsets, end: Offsets) -> bool:
        """Whether to wait for more, as minOffsetsPerTrigger asks."""
        least = self._options.min_rows_per_trigger
        now_s = time.monotonic()
        if least is None or self._target is not None:
            return False
        there = sum(max(0, to - begin.get(where, 0)) for where, to in end.items())
        is_due = now_s - self._admitted_at_s >= self._options.max_trigger_delay_ms / 1000
        if there < least and not is_due:
            return True
        self._admitted_at_s = now_s
        return False
