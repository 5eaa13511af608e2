"""Making directories a node's own: ids, and what the metadata log begins with (KIP-853).

Each directory gets `meta.properties` and `bootstrap.checkpoint`, as from Kafka's own tool; the one
with the metadata log also gets the first snapshot, where it is told who votes. A fresh node that
names no other formats itself as a quorum of its own. What is there already is never overwritten.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from snakka.metadata.bootstrap import bootstrap_records, effective_levels
from snakka.node.bootstrap_file import write_bootstrap
from snakka.node.metadata_log import METADATA_DIRECTORY
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.kraft import SnapshotHeaderRecord
from snakka.protocol.types import Uuid, format_uuid, random_uuid
from snakka.quorum.control_records import control_batch, kraft_version_record, voters_record
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT
from snakka.quorum.snapshot_format import snapshot_footer
from snakka.quorum.voters import SUPPORTED_VERSIONS, Endpoint, ReplicaKey, Voter, VoterSet
from snakka.storage.disk import Disk
from snakka.storage.identity import MetaProperties, read_meta_properties, write_meta_properties
from snakka.storage.names import META_PROPERTIES

_KRAFT_VERSION: Final = 1


class NotFormattedError(Exception):
    """Directories that do not belong together, or to this node, or to nobody yet."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this node is, by what its directory says."""

    cluster_id: str
    node_id: int
    directory_id: Uuid
    is_new: bool


@dataclass(frozen=True, slots=True)
class Beginning:
    """What all nodes of a new cluster are formatted with."""

    cluster_id: str
    records: Sequence[MetadataRecord]
    voters: VoterSet | None = None  # None: learnt from others, or from the configuration


def find_identity(disk: Disk, directory: str, node_id: int) -> Identity | None:
    """The identity in `directory`; None where it has none."""
    path = f"{directory}/{META_PROPERTIES}"
    disk.make_directory(directory)
    if META_PROPERTIES not in disk.names(directory):
        return None
    meta = read_meta_properties(disk, path)
    if meta.node_id != node_id:
        raise NotFormattedError(f"{path} is of node.id={meta.node_id}, not {node_id}")
    if meta.directory_id is None:
        raise NotFormattedError(f"{path} has no directory.id")
    return Identity(meta.cluster_id, node_id, meta.directory_id, is_new=False)


def format_alone(
    disk: Disk, directory: str, node_id: int, endpoint: Endpoint, *, rng: random.Random, now_ms: int
) -> Identity:
    """Makes `directory`, which is nobody's, that of a quorum of one."""
    directory_id = random_uuid(rng)
    voter = Voter(ReplicaKey(node_id, directory_id), (endpoint,), SUPPORTED_VERSIONS)
    beginning = Beginning(
        format_uuid(random_uuid(rng)),
        bootstrap_records(effective_levels(None, {}, is_dynamic=True)),
        VoterSet.of([voter]),
    )
    format_directory(
        disk, directory, node_id, directory_id, beginning, has_metadata=True, now_ms=now_ms
    )
    return Identity(beginning.cluster_id, node_id, directory_id, is_new=True)


def format_directory(
    disk: Disk,
    directory: str,
    node_id: int,
    directory_id: Uuid,
    beginning: Beginning,
    *,
    has_metadata: bool,
    now_ms: int,
) -> None:
    """One directory, which has to be there. `meta.properties` comes last: with it all is done."""
    write_bootstrap(disk, directory, beginning.records, now_ms)
    if has_metadata and beginning.voters is not None:
        _write_first_snapshot(disk, directory, beginning.voters, now_ms)
    meta = MetaProperties(beginning.cluster_id, node_id, directory_id)
    write_meta_properties(disk, f"{directory}/{META_PROPERTIES}", meta)


def _write_first_snapshot(disk: Disk, directory: str, voters: VoterSet, now_ms: int) -> None:
    head = control_batch(
        [
            SnapshotHeaderRecord(version=0, last_contained_log_timestamp=now_ms),
            kraft_version_record(_KRAFT_VERSION),
            voters_record(voters),
        ],
        base_offset=0,
        epoch=0,
        timestamp_ms=now_ms,
    )
    files = SnapshotFiles(disk, f"{directory}/{METADATA_DIRECTORY}")
    files.write(BOOTSTRAP_SNAPSHOT, 0, head + snapshot_footer(3, now_ms=now_ms))
    files.complete(BOOTSTRAP_SNAPSHOT)
