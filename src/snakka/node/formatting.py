"""Making directories a node's own: ids, and the first snapshot of the metadata log (KIP-853).

A fresh node formats itself as a quorum of its own. What is there already is never overwritten.
"""

import random
from dataclasses import dataclass
from typing import Final

from snakka.node.metadata_log import METADATA_DIRECTORY
from snakka.node.snapshot_files import SnapshotFiles
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
    """Directories that do not belong together, or to this node."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this node is, by what its directory says."""

    cluster_id: str
    node_id: int
    directory_id: Uuid
    is_new: bool


def open_or_format(
    disk: Disk, directory: str, node_id: int, endpoint: Endpoint, *, rng: random.Random, now_ms: int
) -> Identity:
    """The identity in `directory`, which is given one where it has none yet."""
    path = f"{directory}/{META_PROPERTIES}"
    disk.make_directory(directory)
    if META_PROPERTIES in disk.names(directory):
        meta = read_meta_properties(disk, path)
        if meta.node_id != node_id:
            raise NotFormattedError(f"{path} is of node.id={meta.node_id}, not {node_id}")
        if meta.directory_id is None:
            raise NotFormattedError(f"{path} has no directory.id")
        return Identity(meta.cluster_id, node_id, meta.directory_id, is_new=False)
    identity = Identity(format_uuid(random_uuid(rng)), node_id, random_uuid(rng), is_new=True)
    _write_first_snapshot(disk, directory, identity, endpoint, now_ms)
    write_meta_properties(
        disk, path, MetaProperties(identity.cluster_id, node_id, identity.directory_id)
    )
    return identity


def _write_first_snapshot(
    disk: Disk, directory: str, identity: Identity, endpoint: Endpoint, now_ms: int
) -> None:
    """Names this node as the only voter."""
    voter = Voter(
        ReplicaKey(identity.node_id, identity.directory_id), (endpoint,), SUPPORTED_VERSIONS
    )
    head = control_batch(
        [
            SnapshotHeaderRecord(version=0, last_contained_log_timestamp=now_ms),
            kraft_version_record(_KRAFT_VERSION),
            voters_record(VoterSet.of([voter])),
        ],
        base_offset=0,
        epoch=0,
        timestamp_ms=now_ms,
    )
    files = SnapshotFiles(disk, f"{directory}/{METADATA_DIRECTORY}")
    files.write(BOOTSTRAP_SNAPSHOT, 0, head + snapshot_footer(3, now_ms=now_ms))
    files.complete(BOOTSTRAP_SNAPSHOT)
