"""Who a directory belongs to: a log directory's meta.properties, a partition's partition.metadata.

Not here: choosing ids, and comparing them with the cluster's.
"""

from dataclasses import dataclass
from typing import Final

from snakka.protocol.types import Uuid, format_uuid, parse_uuid
from snakka.storage.disk import Disk, read_whole, replace_file
from snakka.storage.errors import CorruptFileError

_META_PROPERTIES_VERSION: Final = "1"
_PARTITION_METADATA_VERSION: Final = "0"


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """meta.properties, version 1 (KIP-631); the directory id is KIP-858's."""

    cluster_id: str
    node_id: int
    directory_id: Uuid | None = None


def read_meta_properties(disk: Disk, path: str) -> MetaProperties:
    properties = _parse_properties(disk, path)
    version = properties.get("version")
    if version != _META_PROPERTIES_VERSION:
        raise CorruptFileError(path, f"version {version!r} is not {_META_PROPERTIES_VERSION!r}")
    directory_id = properties.get("directory.id")
    try:
        return MetaProperties(
            cluster_id=properties["cluster.id"],
            node_id=int(properties["node.id"]),
            directory_id=parse_uuid(directory_id) if directory_id else None,
        )
    except KeyError as missing:
        raise CorruptFileError(path, f"{missing} is missing") from None
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from None


def write_meta_properties(disk: Disk, path: str, meta: MetaProperties) -> None:
    properties = {
        "version": _META_PROPERTIES_VERSION,
        "cluster.id": meta.cluster_id,
        "node.id": str(meta.node_id),
    }
    if meta.directory_id is not None:
        properties["directory.id"] = format_uuid(meta.directory_id)
    text = "".join(f"{key}={value}\n" for key, value in properties.items())
    replace_file(disk, path, text.encode())


def read_topic_id(disk: Disk, path: str) -> Uuid:
    """The topic id in a partition.metadata file (KIP-516)."""
    fields = _parse_properties(disk, path)
    if fields.get("version") != _PARTITION_METADATA_VERSION:
        raise CorruptFileError(path, f"version {fields.get('version')!r}")
    try:
        return parse_uuid(fields.get("topic_id", ""))
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from None


def write_topic_id(disk: Disk, path: str, topic_id: Uuid) -> None:
    text = f"version: {_PARTITION_METADATA_VERSION}\ntopic_id: {format_uuid(topic_id)}"
    replace_file(disk, path, text.encode())


def _parse_properties(disk: Disk, path: str) -> dict[str, str]:
    """Java's properties as far as these files use them: comments, `=` or `:`, escaped signs."""
    properties = {}
    for line in read_whole(disk, path).decode("latin-1").splitlines():
        text = line.strip()
        if not text or text[0] in "#!":
            continue
        cut = min((i for i in map(text.find, "=:") if i > 0), default=0)
        if not cut:
            raise CorruptFileError(path, f"{text!r} is not a property")
        properties[text[:cut].rstrip()] = text[cut + 1 :].lstrip().replace("\\", "")
    return properties
