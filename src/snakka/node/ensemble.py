"""The `meta.properties` of all of a node's directories, which have to agree (KIP-631, KIP-858).

A directory that is new gets one, with an id of its own; so does one from before directories had
ids. One that cannot be read has failed, and the node does without it.

Not here: making a cluster, in the directory of the metadata log (formatting.py).
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from snakka.metadata.directories import is_reserved
from snakka.node.formatting import Identity, NotFormattedError
from snakka.node.metadata_log import METADATA_DIRECTORY
from snakka.protocol.types import Uuid, format_uuid, random_uuid
from snakka.storage.disk import Disk
from snakka.storage.errors import CorruptFileError
from snakka.storage.identity import MetaProperties, read_meta_properties, write_meta_properties
from snakka.storage.names import META_PROPERTIES


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The directories by path: the ids of those that are well, and why others are not."""

    ids: Mapping[str, Uuid]
    failed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Survey:
    """What the directories say of themselves; None is nothing yet."""

    found: Mapping[str, MetaProperties | None]
    failed: Mapping[str, str]

    @property
    def is_fresh(self) -> bool:
        """Whether this is nobody's node yet."""
        return not self.failed and not any(self.found.values())


def survey(disk: Disk, paths: Iterable[str]) -> Survey:
    found: dict[str, MetaProperties | None] = {}
    failed: dict[str, str] = {}
    for path in paths:
        try:
            disk.make_directory(path)
            file = f"{path}/{META_PROPERTIES}"
            is_there = META_PROPERTIES in disk.names(path)
            found[path] = read_meta_properties(disk, file) if is_there else None
        except (OSError, CorruptFileError) as error:
            failed[path] = str(error)
    return Survey(found, failed)


def claim(
    disk: Disk, surveyed: Survey, identity: Identity, metadata_path: str, rng: random.Random
) -> Ensemble:
    """The directories of this node; raises where they are not its own, or another's too."""
    ids: dict[str, Uuid] = {}
    failed = dict(surveyed.failed)
    for path, meta in surveyed.found.items():
        file = f"{path}/{META_PROPERTIES}"
        if meta is not None:
            _check_owner(file, meta, identity)
        try:
            if path != metadata_path and METADATA_DIRECTORY in disk.names(path):
                raise NotFormattedError(
                    f"{path}/{METADATA_DIRECTORY} is not in the metadata directory, {metadata_path}"
                )
            directory_id = identity.directory_id if path == metadata_path else None
            directory_id = directory_id or (meta and meta.directory_id) or random_uuid(rng)
            if directory_id in ids.values() or is_reserved(directory_id):
                raise NotFormattedError(
                    f"{file}: directory.id={format_uuid(directory_id)} is taken already"
                )
            whole = MetaProperties(identity.cluster_id, identity.node_id, directory_id)
            if path != metadata_path and meta != whole:
                write_meta_properties(disk, file, whole)
            ids[path] = directory_id
        except OSError as error:
            failed[path] = str(error)
    return Ensemble(ids, failed)


def _check_owner(file: str, meta: MetaProperties, identity: Identity) -> None:
    if meta.cluster_id != identity.cluster_id:
        raise NotFormattedError(
            f"{file} is of cluster.id={meta.cluster_id}, not {identity.cluster_id}"
        )
    if meta.node_id != identity.node_id:
        raise NotFormattedError(f"{file} is of node.id={meta.node_id}, not {identity.node_id}")
