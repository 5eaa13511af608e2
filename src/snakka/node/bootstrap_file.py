"""`bootstrap.checkpoint`: what the first controller of a cluster writes into the empty log.

In the form of a snapshot, as Kafka's `kafka-storage format` writes it.
"""

from collections.abc import Iterable
from typing import Final

from snakka.metadata.versions import LATEST, record_version
from snakka.protocol.internal.frames import METADATA_RECORDS, read_typed, write_typed
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.kraft import SnapshotHeaderRecord
from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.quorum.control_records import control_batch
from snakka.quorum.snapshot_format import snapshot_footer
from snakka.storage.disk import Disk, read_whole, replace_file

BOOTSTRAP_FILE: Final = "bootstrap.checkpoint"


def read_bootstrap(disk: Disk, directory: str) -> list[MetadataRecord] | None:
    """The records; None where the directory was formatted without."""
    if BOOTSTRAP_FILE not in disk.names(directory):
        return None
    return [
        read_typed(METADATA_RECORDS, record.value or b"")
        for batch in batches(read_whole(disk, f"{directory}/{BOOTSTRAP_FILE}"))
        if not batch.header.is_control
        for record in batch.records()
    ]


def write_bootstrap(
    disk: Disk, directory: str, records: Iterable[MetadataRecord], now_ms: int
) -> None:
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=0)
    head = control_batch([header], base_offset=0, epoch=0, timestamp_ms=now_ms)
    written = [
        Record(1 + index, now_ms, None, write_typed(each, record_version(each, LATEST)))
        for index, each in enumerate(records)
    ]
    body = build_batch(written, leader_epoch=0)
    footer = snapshot_footer(1 + len(written), now_ms=now_ms)
    replace_file(disk, f"{directory}/{BOOTSTRAP_FILE}", head + body + footer)
