"""What a pipeline writes to topics; how far it is in its sources is part of the transaction.

The offsets are the state of an application of the sink (versions.py): a write that did not begin
where the last one ended is refused. Like all that groups commit, they are kept for
`offsets.retention.minutes` after the last write.
"""

import json
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as sf

from snakka.client.offsets import CommittedOffset
from snakka.pipeline.cluster_thread import ClusterAddress, connect
from snakka.pipeline.committing import Committer
from snakka.pipeline.offsets import Offsets, from_json, to_json
from snakka.pipeline.sink_options import read_sink_options
from snakka.pipeline.staging import STAGING_PREFIX
from snakka.pipeline.tables.table import Step

APPLICATION_PREFIX: Final = "pipeline-"


class Application:
    """One writer, under an id of its own, on one cluster."""

    def __init__(self, application_id: str, options: Mapping[str, str]) -> None:
        self._id = application_id
        self._options = options
        self._checked = read_sink_options(options)

    def find_offsets(self) -> Offsets | None:
        """Where the last write ended; None where there was none."""
        return _offsets(self._committer().find_note())

    def take_over(self) -> Offsets | None:
        """The same, when nobody can add to it any more who began before."""
        return _offsets(self._committer().take_over())

    def write(
        self, rows: DataFrame, topic: str | None, begin: Offsets | None, end: Offsets
    ) -> None:
        """Writes rows that are records, from one state to the next; they may name their topics."""
        named = {} if topic is None else {"topic": topic}
        (
            rows.write.format("snakka")
            .mode("append")
            .options(**self._options, **named)
            .option("txnAppId", self._id)
            .option("txnPreviousState", "" if begin is None else _state(begin))
            .option("txnState", _state(end))
            .save()
        )

    def append(self, rows: DataFrame, topic: str | None, step: Step) -> int:
        """Writes what a step adds; how many records that are."""
        counting = Observation()
        counted = rows.observe(counting, sf.count("*").alias("rows"))
        begin = None if self.take_over() is None else step.begin
        self.write(counted, topic, begin, step.end)
        count: int = counting.get["rows"]
        return count

    def _committer(self) -> Committer:
        address = ClusterAddress(self._checked.bootstrap_servers, self._checked.client_settings)
        topic, timeout_ms = STAGING_PREFIX + self._id, self._checked.transaction_timeout_ms
        return Committer(connect(address), self._id, topic, timeout_ms)


def _offsets(note: CommittedOffset | None) -> Offsets | None:
    return None if note is None else from_json(json.loads(note.metadata))


def _state(offsets: Offsets) -> str:
    return json.dumps(to_json(offsets), separators=(",", ":"))
