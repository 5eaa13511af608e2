"""What a pipeline asks of its source's brokers: where to start, and how far the logs go.

Not here: reading records, which is the data source's (snakka.pipeline.source).
"""

import logging
from typing import Final

from snakka.client.errors import ClientError
from snakka.pipeline.broker import commit_progress, find_offsets
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread, connect
from snakka.pipeline.declared.declaration import Pipeline, Source
from snakka.pipeline.declared.starting import starting_option
from snakka.pipeline.offsets import LATEST, At, Offsets
from snakka.pipeline.options import SourceOptions, check_stream, read_source_options
from snakka.pipeline.source_planner import LogState, SourcePlanner

_LOG: Final = logging.getLogger(__name__)

_OF_GROUPS: Final = ("group.id", "groupidprefix")
GROUP_PREFIX: Final = "snakka-"


class SourceLogs:
    """The partitions of a pipeline's sources."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._options = self._read({"subscribe": ",".join(pipeline.topics)})
        self.group_id = self._options.group_id or GROUP_PREFIX + pipeline.name

    @property
    def reading_options(self) -> dict[str, str]:
        """For a stream, which need not commit for a group: this does."""
        named = self._pipeline.options.items()
        return {name: text for name, text in named if not name.lower().endswith(_OF_GROUPS)}

    def state(self) -> LogState:
        """The first and last offsets of all partitions."""
        return self._thread().run(SourcePlanner(self._thread().cluster, self._options).look())

    def find_start(self) -> Offsets:
        """Where the sources are to start, as offsets."""
        found: Offsets = {}
        for each in self._pipeline.sources:
            found |= self._start_of(each)
        return found

    def find_lag(self, offsets: Offsets) -> int | None:
        """How many offsets lie behind these; None while nobody can tell."""
        places = dict.fromkeys(offsets, At(LATEST))
        work = find_offsets(self._thread().cluster, places, is_read_committed=True)
        try:
            last = self._thread().run(work)
        except ClientError:
            return None
        return sum(max(0, last[where] - offset) for where, offset in offsets.items())

    def commit(self, offsets: Offsets) -> None:
        """Stores the progress with a group, for others to see: it may be late."""
        work = commit_progress(self._thread().cluster, self.group_id, offsets)
        try:
            self._thread().run(work)
        except ClientError as error:
            _LOG.warning("progress of group %s: %s", self.group_id, error)

    def _start_of(self, source: Source) -> Offsets:
        options = self._read(
            {"subscribe": ",".join(source.topics), **starting_option(source.starting)}
        )
        planner = SourcePlanner(self._thread().cluster, options)
        state = self._thread().run(planner.look())
        return self._thread().run(planner.find_start(check_stream(options), state))

    def _read(self, more: dict[str, str]) -> SourceOptions:
        return read_source_options({**self._pipeline.options, **more})

    def _thread(self) -> ClusterThread:
        options = self._options
        return connect(ClusterAddress(options.bootstrap_servers, options.client_settings))
