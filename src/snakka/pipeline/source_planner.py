"""What a query reads next: from options and what the brokers say to offsets and slices.

One planner lives as long as a query's driver process. A micro-batch costs one round trip: first
and last offsets and log sizes are asked for together. Only a limit that lets in less than there is
costs more, since then records are counted.

Not here: asking (broker.py), arithmetic (planning.py, admission.py), Spark's side (source.py).
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from snakka.client.cluster import Cluster
from snakka.client.records import TopicPartition
from snakka.pipeline.admission import UNLIMITED, Limits, Walk, share_out
from snakka.pipeline.broker import NONE_THAT_LATE, find_offsets, find_partitions, log_sizes
from snakka.pipeline.errors import DataLossError, OptionError
from snakka.pipeline.fetching import FETCH_BYTES_MIN, ReadRules, fetch
from snakka.pipeline.offsets import EARLIEST, LATEST, At, OffsetRange, Offsets, Position
from snakka.pipeline.options import SourceOptions
from snakka.pipeline.planning import Slice, Splitting, pack, split
from snakka.pipeline.pushdown import Bounds

WALK_BYTES_MAX: Final = 32 << 20  # of one micro-batch, by the driver


@dataclass(frozen=True, slots=True)
class LogState:
    """What the brokers said of all partitions at one moment."""

    first: Offsets
    last: Offsets
    sizes: dict[TopicPartition, int]

    def bytes_per_offset(self) -> dict[TopicPartition, float]:
        return {
            where: size / max(1, self.last[where] - self.first[where])
            for where, size in self.sizes.items()
            if where in self.last
        }


class SourcePlanner:
    def __init__(self, cluster: Cluster, options: SourceOptions) -> None:
        self._cluster = cluster
        self._options = options
        self.rules = ReadRules(options.is_read_committed, options.fail_on_data_loss)
        self._partitions: list[TopicPartition] = []
        self._partitions_at_s = float("-inf")

    async def look(self, partitions: Iterable[TopicPartition] | None = None) -> LogState:
        """The logs of all partitions that are subscribed to, as they are now."""
        wanted = list(await self._find_partitions() if partitions is None else partitions)
        first, last, sizes = await asyncio.gather(
            self._offsets(dict.fromkeys(wanted, At(EARLIEST))),
            self._offsets(dict.fromkeys(wanted, At(LATEST))),
            log_sizes(self._cluster, wanted),
        )
        return LogState(first, last, sizes)

    async def find_start(self, position: Position, state: LogState) -> Offsets:
        """The offsets of a position in the option startingOffsets."""
        places = self._places("startingOffsets", position, state)
        found = await self._offsets(places)
        for where, offset in found.items():
            if places[where].timestamp_ms is not None and offset == NONE_THAT_LATE:
                if self._options.later_than_any == "error":
                    raise OptionError(
                        f"option startingOffsetsByTimestamp: {where} has no record as late as"
                        f" {places[where].timestamp_ms}; startingOffsetsByTimestampStrategy=latest"
                        " starts at the end then"
                    )
                found[where] = state.last[where]
        return found

    async def find_end(self, position: Position, state: LogState) -> Offsets:
        found = await self._offsets(self._places("endingOffsets", position, state))
        return {
            where: state.last[where] if offset == NONE_THAT_LATE else offset
            for where, offset in found.items()
        }

    async def plan_batch(self, starting: Position, bounds: Bounds) -> list[tuple[Slice, ...]]:
        """The tasks of a batch query."""
        state = await self.look()
        starts, ends = await asyncio.gather(
            self.find_start(starting, state), self.find_end(self._options.ending, state)
        )
        ranges = [
            bounds.cut(OffsetRange(where, starts[where], ends[where]))
            for where in sorted(starts)
            if bounds.admits(where)
        ]
        ranges = [self._within(each, state) for each in ranges if each.end > each.start]
        if bounds.timestamp_ms is not None:
            at = At(timestamp_ms=bounds.timestamp_ms)
            later = await self._offsets({each.where: at for each in ranges})
            ranges = [_from(each, later[each.where]) for each in ranges]
        return self._tasks(ranges, state)

    def plan_micro_batch(
        self, start: Offsets, end: Offsets, state: LogState
    ) -> list[tuple[Slice, ...]]:
        """The tasks from one end of a query to its next one; new partitions are read whole."""
        ranges = [
            OffsetRange(where, start.get(where, state.first.get(where, 0)), to)
            for where, to in end.items()
        ]
        for each in ranges:
            if each.start > each.end and self.rules.fail_on_data_loss:
                raise DataLossError(
                    f"offsets before {each.end} of {each.where}",
                    "the first micro-batch is repeated, and startingOffsets now stands for"
                    f" {each.start}",
                )
        checked = [self._within(each, state) for each in ranges if each.end > each.start]
        return self._tasks(checked, state)

    async def admit(self, start: Offsets, end: Offsets, limits: Limits, state: LogState) -> Offsets:
        """How far a micro-batch goes that may not take in all there is."""
        begin = {where: start.get(where, state.first.get(where, 0)) for where in end}
        spans = {where: max(0, end[where] - begin[where]) for where in end}
        densities = state.bytes_per_offset()
        sizes = {where: round(span * densities.get(where, 1.0)) for where, span in spans.items()}
        if sum(spans.values()) <= limits.rows_max and sum(sizes.values()) <= limits.bytes_max // 2:
            return end
        rows = share_out(limits.rows_max, spans)
        # An estimate tells each partition's part of the limit, and limits nothing itself.
        total = max(1, sum(sizes.values()))
        sizes = {where: limits.bytes_max * size // total for where, size in sizes.items()}
        busy = [where for where, span in spans.items() if span and rows[where]]
        walked = await asyncio.gather(
            *(
                self._walk(
                    OffsetRange(where, begin[where], end[where]),
                    Limits(rows[where], max(1, sizes[where])),
                    WALK_BYTES_MAX // len(busy),
                )
                for where in busy
            )
        )
        return {**{where: begin[where] for where in end}, **dict(zip(busy, walked, strict=True))}

    async def _walk(self, through: OffsetRange, limits: Limits, budget_bytes: int) -> int:
        walk = Walk(through.start, limits)
        while walk.position < through.end:
            if walk.walked_bytes >= budget_bytes:
                return walk.guess_rest(through.end)
            fetched = await fetch(
                self._cluster, through.where, walk.position, FETCH_BYTES_MIN, self.rules
            )
            for batch, is_visible in fetched:
                if not is_visible:
                    walk.pass_over(batch.header)
                elif not walk.take(batch.header):
                    return min(walk.position, through.end)
        return min(walk.position, through.end)

    def gone(self, offsets: Offsets, state: LogState) -> None:
        """Raises DataLossError for partitions that a query has read and that are no more."""
        deleted = sorted(offsets.keys() - state.last.keys())
        if deleted and self.rules.fail_on_data_loss:
            named = ", ".join(f"offsets from {offsets[each]} of {each}" for each in deleted)
            raise DataLossError(named, "the partition was deleted, or is not subscribed to")

    def _within(self, wanted: OffsetRange, state: LogState) -> OffsetRange:
        """A range without what is not in the log; DataLossError, unless loss is accepted."""
        first, last = state.first[wanted.where], state.last[wanted.where]
        start = min(max(wanted.start, first), wanted.end)
        end = max(start, min(wanted.end, last))
        if self.rules.fail_on_data_loss:
            if start > wanted.start:
                gone = OffsetRange(wanted.where, wanted.start, start)
                raise DataLossError(str(gone), f"the log starts at {first}")
            if end < wanted.end:
                gone = OffsetRange(wanted.where, end, wanted.end)
                raise DataLossError(str(gone), f"the log ends at {last}")
        return OffsetRange(wanted.where, start, end)

    def _tasks(self, ranges: list[OffsetRange], state: LogState) -> list[tuple[Slice, ...]]:
        options = self._options
        splitting = Splitting(
            options.max_partition_bytes, options.max_partition_rows, options.min_partitions
        )
        return pack(split(ranges, state.bytes_per_offset(), splitting), splitting)

    def _places(self, option: str, position: Position, state: LogState) -> dict[TopicPartition, At]:
        try:
            return position.of(state.last)
        except ValueError as error:
            raise OptionError(f"option {option}: {error}") from None

    async def _offsets(self, places: Mapping[TopicPartition, At]) -> Offsets:
        return await find_offsets(
            self._cluster, places, is_read_committed=self.rules.is_read_committed
        )

    async def _find_partitions(self) -> list[TopicPartition]:
        age_s = time.monotonic() - self._partitions_at_s
        if age_s * 1000 > self._cluster.settings.metadata_max_age_ms:
            self._partitions = await find_partitions(self._cluster, self._options.subscription)
            self._partitions_at_s = time.monotonic()
        return self._partitions


def limits_of(options: SourceOptions) -> Limits:
    return Limits(
        options.max_rows_per_trigger or UNLIMITED, options.max_bytes_per_trigger or UNLIMITED
    )


def _from(whole: OffsetRange, offset: int) -> OffsetRange:
    """What is left of a range; nothing, where no record is late enough."""
    start = whole.end if offset == NONE_THAT_LATE else max(whole.start, offset)
    return OffsetRange(whole.where, min(start, whole.end), whole.end)
