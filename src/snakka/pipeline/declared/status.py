"""How far a pipeline is: the offsets in its target against the ends of its topics. Without Spark.

Not here: whether all of it is there (audit.py).
"""

from dataclasses import dataclass

from snakka.client.records import TopicPartition
from snakka.pipeline.declared.declaration import Pipeline
from snakka.pipeline.declared.logs import SourceLogs
from snakka.pipeline.declared.targets import target_of


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """One partition; None where nothing of it is in the target yet."""

    where: TopicPartition
    first_offset: int
    offset: int | None
    end_offset: int

    @property
    def lag(self) -> int:
        """Offsets that are to be read, of those that are still there."""
        begin = self.first_offset if self.offset is None else self.offset
        return max(0, self.end_offset - max(begin, self.first_offset))

    @property
    def lost(self) -> int:
        """Offsets that are gone from the topic and were never read."""
        return 0 if self.offset is None else max(0, self.first_offset - self.offset)


def status(pipeline: Pipeline) -> list[PartitionStatus]:
    state = SourceLogs(pipeline).state()
    found = target_of(pipeline).find_offsets() or {}
    return [
        PartitionStatus(where, state.first[where], found.get(where), state.last[where])
        for where in sorted(state.last)
    ]
