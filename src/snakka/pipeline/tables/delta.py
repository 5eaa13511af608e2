"""The log of a Delta table, through deltalake.

How far a pipeline is in each partition is an application transaction of Delta, of the id
`snakka/<pipeline>/<topic>/<partition>` and with the offset for its version. Such transactions are
part of the commit that adds the rows, and the log's checkpoints keep them when its entries go.
Which partitions there are is in the property `snakka.partitions.<pipeline>`.

A commit is tried for one version of the table only. Where somebody else was faster, offsets and
files are looked at anew before the next version is tried: deltalake would itself move a commit on
that has become stale.

Not here: what Delta keeps of a file's columns (statistics.py).
"""

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql.types import StructType

from snakka.client.records import TopicPartition
from snakka.pipeline.errors import SchemaError
from snakka.pipeline.offsets import Offsets, read_assignment
from snakka.pipeline.tables.file_table import Shape, Version
from snakka.pipeline.tables.files import delete
from snakka.pipeline.tables.packing import Sized
from snakka.pipeline.tables.progress import check_step
from snakka.pipeline.tables.properties import check_properties
from snakka.pipeline.tables.schema import (
    check_partitioning,
    check_same_partitioning,
    evolve,
    relax,
    to_arrow,
)
from snakka.pipeline.tables.statistics import delta_statistics
from snakka.pipeline.tables.table import Step, Swept, TableOptions
from snakka.pipeline.tables.writing import DataFile, Layout

_DURATION: Final = r"interval \d+ (second|minute|hour|day|week)s?"
PROPERTIES: Final = {
    "delta.checkpointInterval": r"[1-9]\d*",
    "delta.deletedFileRetentionDuration": _DURATION,
    "delta.logRetentionDuration": _DURATION,
}
# What a table may ask for. The last two deltalake adds by itself when a table with timestampNtz is
# altered; columns that make use of them are refused by their schema.
_FEATURES: Final = {"timestampNtz", "appendOnly", "invariants", "variantType"}
_VERSIONS: Final = {(1, 1), (1, 2), (3, 7)}
_INVALID_IN_NAME: Final = set(" ,;{}()\n\t=")
_HOUR_MS: Final = 60 * 60 * 1000


class DeltaLog:
    """The log in `_delta_log`."""

    def __init__(self, options: TableOptions) -> None:
        check_properties("a Delta", options.properties, PROPERTIES)
        self._options = options
        self._location = options.location

    def find_offsets(self, pipeline: str) -> Offsets | None:
        table = self._find()
        return None if table is None else _stored(table, pipeline)

    def find_version(self) -> Version | None:
        table = self._find()
        if table is None:
            return None
        return Version(self._shape(table), [self._sized(each) for each in _live(table)])

    def fit(self, rows: StructType, step: Step) -> Shape:
        while True:
            table = self._find()
            if table is not None:
                check_step(_stored(table, step.pipeline), step, self._location)
            before = StructType([]) if table is None else _schema(table)
            schema = evolve(before, rows, widens=False)
            check_partitioning(schema, self._options.partition_by)
            known = set() if table is None else _partitions(table, step.pipeline)
            listed = {_property(step.pipeline): _list(known | step.end.keys())}
            if table is None:
                self._create(schema, listed)
            elif schema != before:
                fields = [Field.from_json(each.json()) for each in schema]
                self._try(table, partial(table.alter.add_columns, fields))
            elif not step.end.keys() <= known:
                self._try(table, partial(table.alter.set_table_properties, listed, False))
            else:
                return self._shape(table)

    def add(self, files: Sequence[DataFile], step: Step) -> int:
        while True:
            table = self._get()
            stored = _stored(table, step.pipeline) or {}
            check_step(stored, step, self._location)
            transactions = [
                Transaction(_app_id(step.pipeline, where), offset)
                for where, offset in step.end.items()
                if stored.get(where) != offset
            ]
            if self._commit(table, self._adds(files, is_new=True), transactions):
                return table.version() + 1

    def replace(self, old: Sequence[Sized], new: Sequence[DataFile]) -> bool:
        while True:
            table = self._get()
            live = {self._path(each): each for each in _live(table)}
            if any(each.path not in live for each in old):
                return False
            removed = [_remove(live[each.path]) for each in old]
            if self._commit(table, [*self._adds(new, is_new=False), *removed], []):
                return True

    def expire(self, older_than_ms: int) -> Swept:
        """Deletes files that were removed; the log's entries go by the table's properties."""
        table = self._get()
        hours = max(0, math.ceil((_now_ms() - older_than_ms) / _HOUR_MS))
        listed = table.vacuum(hours, dry_run=True, enforce_retention_duration=False)
        done = delete(os.path.join(self._location, each) for each in listed)
        table.create_checkpoint()
        table.cleanup_metadata()
        return done

    def sweepable(self) -> Sequence[str]:
        return ["*=*/" * len(self._options.partition_by) + "*.parquet"]

    def known_files(self) -> set[str]:
        table = self._get()
        removed = table.vacuum(0, dry_run=True, enforce_retention_duration=False)
        return {
            *map(self._path, _live(table)),
            *(os.path.join(self._location, each) for each in removed),
        }

    def _find(self) -> DeltaTable | None:
        return self._get() if DeltaTable.is_deltatable(self._location) else None

    def _get(self) -> DeltaTable:
        table = DeltaTable(self._location)
        _check_protocol(table)
        check_same_partitioning(tuple(table.metadata().partition_columns), self._options)
        return table

    def _shape(self, table: DeltaTable) -> Shape:
        schema = _schema(table)
        return Shape(schema, Layout(self._location, to_arrow(schema), self._options.partition_by))

    def _sized(self, action: Mapping[str, Any]) -> Sized:
        partition = tuple((action.get("partition") or {}).items())
        return Sized(self._path(action), partition, action["size_bytes"], action["num_records"])

    def _create(self, schema: StructType, properties: Mapping[str, str]) -> None:
        for each in schema.fieldNames():
            if _INVALID_IN_NAME & set(each):
                raise SchemaError(f"column {each!r}: Delta allows none of ' ,;{{}}()=' in a name")
        try:
            DeltaTable.create(
                self._location,
                Schema.from_json(schema.json()),
                partition_by=list(self._options.partition_by),
                configuration={**self._options.properties, **properties},
                raise_if_key_not_exists=False,
            )
        except DeltaError:
            # Somebody else may have made it at the same time.
            if not DeltaTable.is_deltatable(self._location):
                raise

    def _adds(self, files: Sequence[DataFile], *, is_new: bool) -> list[AddAction]:
        return [
            AddAction(
                path=each.path,
                size=each.size_bytes,
                partition_values=dict(zip(self._options.partition_by, each.partition, strict=True)),
                modification_time=_now_ms(),
                data_change=is_new,
                stats=delta_statistics(each.footer),
            )
            for each in files
        ]

    def _commit(
        self,
        table: DeltaTable,
        actions: Sequence[AddAction | RemoveAction],
        transactions: Sequence[Transaction],
    ) -> bool:
        """Whether this became the version that follows the table's."""
        properties = CommitProperties(max_commit_retries=0, app_transactions=list(transactions))
        write = partial(
            table.create_write_transaction,
            list(actions),
            "append",
            table.schema(),
            list(self._options.partition_by),
            commit_properties=properties,
        )
        return self._try(table, write)

    def _try(self, table: DeltaTable, commit: Callable[[], None]) -> bool:
        """False where a commit failed because somebody else was faster."""
        try:
            commit()
        except CommitFailedError:
            if DeltaTable(self._location).version() == table.version():
                raise
            return False
        return True

    def _path(self, action: Mapping[str, Any]) -> str:
        return os.path.join(self._location, unquote(action["path"]))


def _check_protocol(table: DeltaTable) -> None:
    asked = table.protocol()
    features = {*(asked.reader_features or ()), *(asked.writer_features or ())}
    versions = asked.min_reader_version, asked.min_writer_version
    if versions not in _VERSIONS or not features <= _FEATURES:
        what = ", ".join(sorted(features - _FEATURES)) or f"the versions {versions}"
        raise SchemaError(f"{table.table_uri} asks for what is not done here: {what}")


def _app_id(pipeline: str, where: TopicPartition) -> str:
    return f"snakka/{pipeline}/{where.topic}/{where.partition}"


def _property(pipeline: str) -> str:
    return f"snakka.partitions.{pipeline}"


def _partitions(table: DeltaTable, pipeline: str) -> set[TopicPartition]:
    listed = table.metadata().configuration.get(_property(pipeline))
    return set(read_assignment(listed)) if listed else set()


def _list(partitions: Iterable[TopicPartition]) -> str:
    listed: dict[str, list[int]] = {}
    for each in sorted(partitions):
        listed.setdefault(each.topic, []).append(each.partition)
    return json.dumps(listed)


def _stored(table: DeltaTable, pipeline: str) -> Offsets | None:
    found = {
        each: table.transaction_version(_app_id(pipeline, each))
        for each in _partitions(table, pipeline)
    }
    return {each: offset for each, offset in found.items() if offset is not None} or None


def _schema(table: DeltaTable) -> StructType:
    schema = StructType.fromJson(json.loads(table.schema().to_json()))
    for each in schema:
        if each.metadata:
            raise SchemaError(f"column {each.name}: asks for {sorted(each.metadata)}")
    return relax(schema)


def _live(table: DeltaTable) -> list[dict[str, Any]]:
    actions: list[dict[str, Any]] = pa.table(table.get_add_actions()).to_pylist()
    return actions


def _remove(action: Mapping[str, Any]) -> RemoveAction:
    partition = action.get("partition") or {}
    return RemoveAction(
        unquote(action["path"]),
        data_change=False,
        deletion_timestamp=_now_ms(),
        size=action["size_bytes"],
        partition_values={name: _to_text(value) for name, value in partition.items()},
    )


def _to_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _now_ms() -> int:
    return int(time.time() * 1000)
