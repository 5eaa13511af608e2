"""The files of an Iceberg table: what its manifests keep of one, and which ones there are.

Not here: commits and properties (iceberg.py).
"""

import os
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final

from pyiceberg.conversions import partition_to_py
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.manifest import DataFileContent, FileFormat, ManifestFile
from pyiceberg.table import Table
from pyiceberg.typedef import Record
from pyiceberg.types import DateType, PrimitiveType

from snakka.pipeline.errors import SchemaError
from snakka.pipeline.tables.writing import DataFile

_FILE_SCHEME: Final = "file://"
_EPOCH: Final = date(1970, 1, 1)


def to_iceberg(table: Table, files: Sequence[DataFile], directory: str) -> Iterator[IcebergFile]:
    """What the manifests say of files below a directory, with the statistics of their columns."""
    schema = table.schema()
    plan = compute_statistics_plan(schema, table.properties)
    ids = parquet_path_to_id_mapping(schema)
    types = [schema.find_type(each.source_id) for each in table.spec().fields]
    for each in files:
        statistics = data_file_statistics_from_parquet_metadata(each.footer, plan, ids)
        partition = zip(types, each.partition, strict=True)
        yield IcebergFile.from_args(
            content=DataFileContent.DATA,
            file_path=os.path.join(directory, each.path),
            file_format=FileFormat.PARQUET,
            partition=Record(*(_partition_value(kind, text) for kind, text in partition)),
            file_size_in_bytes=each.size_bytes,
            sort_order_id=None,
            spec_id=table.metadata.default_spec_id,
            equality_ids=None,
            key_metadata=None,
            **statistics.to_serialized_dict(),
        )


def live_files(table: Table) -> Iterator[IcebergFile]:
    """The files of the last snapshot."""
    for each in table.scan().plan_files():
        if each.delete_files:
            raise SchemaError(
                f"{table.location()} has rows that are deleted in a file of their own, which is"
                " not known here: rewrite its files first"
            )
        yield each.file


def files_of_snapshots(table: Table) -> set[str]:
    """The paths of data files, manifests and lists of them, of all snapshots."""
    manifests: dict[str, ManifestFile] = {}
    paths = set()
    for snapshot in table.snapshots():
        paths.add(local_path(snapshot.manifest_list))
        manifests |= {each.manifest_path: each for each in snapshot.manifests(table.io)}
    for path, manifest in manifests.items():
        paths.add(local_path(path))
        entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
        paths |= {local_path(each.data_file.file_path) for each in entries}
    return paths


def local_path(location: str) -> str:
    return location.removeprefix(_FILE_SCHEME)


def _partition_value(kind: Any, text: str | None) -> Any:
    if text is None:
        return None
    if isinstance(kind, DateType):
        return (date.fromisoformat(text) - _EPOCH).days
    assert isinstance(kind, PrimitiveType)
    return partition_to_py(kind, text)
