"""The log of an Iceberg table, through pyiceberg.

How far a pipeline is stands in the table's property `snakka.offsets.<pipeline>`, which is set in
the transaction that adds the rows; snapshots come and go, properties stay.

A commit is tried for one snapshot only. Where somebody else was faster, offsets and files are
looked at anew before the next: pyiceberg would itself put the rows on top of what makes them stale,
so its retries are turned off, for this process and not in the table.

Not here: the catalog (iceberg_catalog.py), what manifests keep of a file (iceberg_files.py). Tables
with files of deletes, or partitioned by transforms of columns, are refused.
"""

import os
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime
from json import dumps, loads
from typing import Final

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.table.update.snapshot import ExpireSnapshots
from pyiceberg.transforms import IdentityTransform
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType
from sqlalchemy.exc import IntegrityError

from snakka.pipeline.errors import SchemaError
from snakka.pipeline.offsets import Offsets, from_json, to_json
from snakka.pipeline.tables.file_table import Shape, Version
from snakka.pipeline.tables.files import delete
from snakka.pipeline.tables.iceberg_catalog import is_there, open_catalog, read_properties
from snakka.pipeline.tables.iceberg_files import (
    files_of_snapshots,
    live_files,
    local_path,
    to_iceberg,
)
from snakka.pipeline.tables.packing import Sized
from snakka.pipeline.tables.progress import check_step
from snakka.pipeline.tables.schema import (
    check_partitioning,
    check_same_partitioning,
    evolve,
    relax,
    to_arrow,
)
from snakka.pipeline.tables.table import Step, Swept, TableOptions
from snakka.pipeline.tables.writing import DataFile, Layout

# What the making of a namespace or table ends with where somebody else was faster.
_MADE_MEANWHILE: Final = (
    NamespaceAlreadyExistsError,
    TableAlreadyExistsError,
    CommitFailedException,
    IntegrityError,
)


class IcebergLog:
    """A table in a catalog."""

    def __init__(self, options: TableOptions) -> None:
        self._options = options
        self._location = options.location
        self._declared = read_properties(options)
        self._catalog: Catalog | None = None

    def find_offsets(self, pipeline: str) -> Offsets | None:
        table = self._find()
        return None if table is None else _stored(table, pipeline)

    def find_version(self) -> Version | None:
        table = self._find()
        if table is None:
            return None
        files = [
            Sized(
                local_path(each.file_path),
                each.partition,
                each.file_size_in_bytes,
                each.record_count,
            )
            for each in live_files(table)
        ]
        return Version(self._shape(table), files)

    def fit(self, rows: StructType, step: Step) -> Shape:
        while True:
            table = self._find()
            if table is not None:
                check_step(_stored(table, step.pipeline), step, self._location)
            before = StructType([]) if table is None else _schema(table)
            schema = evolve(before, rows, widens=True)
            check_partitioning(schema, self._options.partition_by)
            if table is None:
                self._create(schema)
            elif schema == before:
                return self._shape(table)
            else:
                transaction = table.transaction()
                transaction.update_schema().union_by_name(to_arrow(schema)).commit()
                self._try(table, transaction)

    def add(self, files: Sequence[DataFile], step: Step) -> int:
        while True:
            table = self._get()
            stored = _stored(table, step.pipeline)
            check_step(stored, step, self._location)
            offsets = {**(stored or {}), **step.end}
            transaction = table.transaction()
            transaction.set_properties({_property(step.pipeline): dumps(to_json(offsets))})
            snapshot = transaction.update_snapshot().merge_append()
            for each in to_iceberg(table, files, _data_directory(table)):
                snapshot.append_data_file(each)
            snapshot.commit()
            if self._try(table, transaction):
                return snapshot.snapshot_id

    def replace(self, old: Sequence[Sized], new: Sequence[DataFile]) -> bool:
        while True:
            table = self._get()
            live = {local_path(each.file_path): each for each in live_files(table)}
            if any(each.path not in live for each in old):
                return False
            transaction = table.transaction()
            snapshot = transaction.update_snapshot().overwrite()
            for each in old:
                snapshot.delete_data_file(live[each.path])
            for added in to_iceberg(table, new, _data_directory(table)):
                snapshot.append_data_file(added)
            snapshot.commit()
            if self._try(table, transaction):
                return True

    def expire(self, older_than_ms: int) -> Swept:
        """Deletes what only snapshots from before a moment have; the last one stays."""
        moment = datetime.fromtimestamp(older_than_ms / 1000, UTC)
        while True:
            table = self._get()
            before = files_of_snapshots(table)
            transaction = table.transaction()
            ExpireSnapshots(transaction).older_than(moment).commit()
            if self._try(table, transaction):
                return delete(before - files_of_snapshots(self._get()))

    def sweepable(self) -> Sequence[str]:
        return ["data/*.parquet", "metadata/*.avro", "metadata/*.metadata.json"]

    def known_files(self) -> set[str]:
        table = self._get()
        logs = {local_path(each.metadata_file) for each in table.metadata.metadata_log}
        return {*files_of_snapshots(table), *logs, local_path(table.metadata_location)}

    def _find(self) -> Table | None:
        if not is_there(self._declared):
            return None
        try:
            return self._get()
        except NoSuchTableError:
            return None

    def _get(self) -> Table:
        table = self._open_catalog().load_table(self._declared.identifier)
        check_same_partitioning(_partition_by(table), self._options)
        once = table.properties | {TableProperties.COMMIT_NUM_RETRIES: "0"}
        table.metadata = table.metadata.model_copy(update={"properties": once})
        return table

    def _open_catalog(self) -> Catalog:
        if self._catalog is None:
            self._catalog = open_catalog(self._declared)
            weakref.finalize(self, self._catalog.close)
        return self._catalog

    def _create(self, schema: StructType) -> None:
        catalog = self._open_catalog()
        try:
            catalog.create_namespace_if_not_exists(self._declared.identifier.rpartition(".")[0])
            with (
                catalog.create_table_transaction(
                    self._declared.identifier,
                    to_arrow(schema),
                    location=self._location,
                    properties=self._declared.of_table,
                ) as transaction,
                transaction.update_spec() as spec,
            ):
                for name in self._options.partition_by:
                    spec.add_identity(name)
        except _MADE_MEANWHILE:
            return

    def _shape(self, table: Table) -> Shape:
        arrow = schema_to_pyarrow(table.schema())
        layout = Layout(_data_directory(table), arrow, self._options.partition_by, is_hive=False)
        return Shape(_schema(table), layout)

    def _try(self, table: Table, transaction: Transaction) -> bool:
        """False where a commit failed because somebody else was faster."""
        before = table.metadata_location
        try:
            transaction.commit_transaction()
        except CommitFailedException:
            if self._get().metadata_location == before:
                raise
            return False
        return True


def _property(pipeline: str) -> str:
    return f"snakka.offsets.{pipeline}"


def _stored(table: Table, pipeline: str) -> Offsets | None:
    text = table.properties.get(_property(pipeline))
    return None if text is None else from_json(loads(text))


def _data_directory(table: Table) -> str:
    return os.path.join(local_path(table.location()), "data")


def _schema(table: Table) -> StructType:
    _check_names(table)
    return relax(from_arrow_schema(schema_to_pyarrow(table.schema(), include_field_ids=False)))


def _check_names(table: Table) -> None:
    """Files are read by the names of columns: those have to mean the same in all of them."""
    current = table.schema()
    ids = {name: current.find_field(name).field_id for name in current.column_names}
    for schema in table.schemas().values():
        for name in schema.column_names:
            field_id = schema.find_field(name).field_id
            if ids.get(name, field_id) != field_id or current.find_column_name(field_id) not in (
                name,
                None,
            ):
                raise SchemaError(
                    f"column {name}: was renamed or replaced, so files cannot be read by its name"
                )


def _partition_by(table: Table) -> tuple[str, ...]:
    """Names of columns, or of what a table of somebody else is partitioned by."""
    return tuple(
        table.schema().find_column_name(each.source_id) or each.name
        if isinstance(each.transform, IdentityTransform)
        else each.name
        for each in table.spec().fields
    )
