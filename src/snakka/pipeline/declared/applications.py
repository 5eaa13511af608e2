"""What a pipeline writes to topics; how far it is in its sources is part of the transaction.

The offsets are the state of an application of the sink (versions.py): a write that did not begin
where the last one ended is refused. Like all that groups commit, they are kept for
`offsets.retention.minutes` after the last write.
"""

import json
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame

from snakka.pipeline.cluster_thread import ClusterAddress, connect
from snakka.pipeline.committing import Committer
from snakka.pipeline.offsets import Offsets, from_json, to_json
from snakka.pipeline.sink_options import SINK_OPTIONS, read_sink_options
from snakka.pipeline.staging import STAGING_PREFIX

_LOWER: Final = frozenset(each.lower() for each in SINK_OPTIONS)


class Application:
    """One writer, under an id of its own, on one cluster."""

    def __init__(self, application_id: str, options: Mapping[str, str]) -> None:
        self._id = application_id
        self._options = options
        self._checked = read_sink_options(options)

    def find_offsets(self) -> Offsets | None:
        """Where the last write ended; None where there was none."""
        address = ClusterAddress(self._checked.bootstrap_servers, self._checked.client_settings)
        topic, timeout_ms = STAGING_PREFIX + self._id, self._checked.transaction_timeout_ms
        note = Committer(connect(address), self._id, topic, timeout_ms).find_note()
        return from_json(json.loads(note.metadata)) if note is not None else None

    def write(self, rows: DataFrame, topic: str, begin: Offsets | None, end: Offsets) -> None:
        """Writes rows that are records, from one state to the next."""
        (
            rows.write.format("snakka")
            .mode("append")
            .options(**self._options)
            .option("topic", topic)
            .option("txnAppId", self._id)
            .option("txnPreviousState", "" if begin is None else _state(begin))
            .option("txnState", _state(end))
            .save()
        )


def _state(offsets: Offsets) -> str:
    return json.dumps(to_json(offsets), separators=(",", ":"))
