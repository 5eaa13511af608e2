"""Rows to Parquet files, written by Spark's executors; nothing refers to the files yet.

Each task writes files of its own under new names, so a task that is tried again or a run that was
killed leaves files that belong to no version of the table, and never changes one that does. What
the driver learns of a file is its footer, from which each format takes the statistics it keeps.

A row group is gathered in memory before it is written: batches of Arrow are far too small for one.

Not here: the commit that makes files part of a table (delta.py, iceberg.py, parquet.py).
"""

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from snakka.pipeline.worker import settle_in

ROW_GROUP_BYTES: Final = 64 << 20  # of a file, in memory, before it is written
BUFFERED_BYTES_MAX: Final = 256 << 20  # of all files that a task has open
FILE_BYTES_MAX: Final = 512 << 20
OPEN_FILES_MAX: Final = 200
NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
_COMPRESSION: Final = "zstd"
# Spark takes a path for a pattern, and the name of a directory apart at these.
_ESCAPED: Final = {*map(chr, range(0x20)), "\x7f", *"\"#%'*/:=?\\{}[]^"}
_DDL: Final = (
    "path STRING, size_bytes BIGINT, row_count BIGINT, partition ARRAY<STRING>, footer BINARY"
)
_SCHEMA: Final = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size_bytes", pa.int64()),
        pa.field("row_count", pa.int64()),
        pa.field("partition", pa.list_(pa.field("element", pa.string()))),
        pa.field("footer", pa.binary()),
    ]
)

Partition = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where files go and what is in them.

    With `is_hive` the values of the partition's columns are in a file's path, and only there.
    """

    directory: str
    schema: pa.Schema
    partition_by: tuple[str, ...] = ()
    is_hive: bool = True

    @property
    def file_schema(self) -> pa.Schema:
        if not self.is_hive:
            return self.schema
        return pa.schema([each for each in self.schema if each.name not in self.partition_by])

    def new_path(self, partition: Partition) -> str:
        """The path below the directory of a file that does not exist yet."""
        names = zip(self.partition_by, partition, strict=True) if self.is_hive else ()
        directories = [f"{_escape(name)}={_escape(value)}" for name, value in names]
        return "/".join([*directories, f"{uuid.uuid4()}.parquet"])


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that was written: its path below the directory, and what its footer says."""

    path: str
    size_bytes: int
    row_count: int
    partition: Partition
    footer: pq.FileMetaData


def write_files(rows: DataFrame, layout: Layout) -> list[DataFile]:
    """Writes rows that have the columns of the layout's schema, in its order."""
    # By numbers: mapInArrow takes a dot in the name of a column for the field of a struct.
    numbered = rows.toDF(*map(str, range(len(layout.schema))))
    reports = numbered.mapInArrow(partial(write_task, layout), _DDL).collect()
    return [read_report(each.asDict()) for each in reports]


def read_report(report: Mapping[str, Any]) -> DataFile:
    """What a task says of a file."""
    return DataFile(
        report["path"],
        report["size_bytes"],
        report["row_count"],
        tuple(report["partition"]),
        pq.read_metadata(pa.BufferReader(bytes(report["footer"]))),
    )


def write_task(layout: Layout, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Writes the rows of one task, and reports its files."""
    settle_in()
    writer = _TaskWriter(layout)
    for batch in batches:
        if batch.num_rows:
            table = pa.Table.from_batches([batch]).rename_columns(layout.schema.names)
            writer.add(table.cast(layout.schema))
    yield pa.RecordBatch.from_pylist(writer.finish(), schema=_SCHEMA)


class _TaskWriter:
    """What one task writes: a file for each partition that it meets, or more if they grow large."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._open: dict[Partition, _OpenFile] = {}
        self._finished: list[dict[str, Any]] = []

    def add(self, table: pa.Table) -> None:
        for partition, rows in split(table, self._layout):
            if self._layout.is_hive:
                rows = rows.drop_columns(list(self._layout.partition_by))
            if partition not in self._open:
                self._open[partition] = _OpenFile(self._layout, partition)
            self._open[partition].add(rows)
            if self._open[partition].written_bytes > FILE_BYTES_MAX:
                self._close(partition)
        while sum(each.buffered_bytes for each in self._open.values()) > BUFFERED_BYTES_MAX:
            max(self._open.values(), key=lambda each: each.buffered_bytes).flush()
        while len(self._open) > OPEN_FILES_MAX:
            self._close(next(iter(self._open)))

    def finish(self) -> list[dict[str, Any]]:
        for partition in list(self._open):
            self._close(partition)
        return self._finished

    def _close(self, partition: Partition) -> None:
        self._finished.append(self._open.pop(partition).close())


@dataclass(slots=True)
class _OpenFile:
    layout: Layout
    partition: Partition
    path: str = field(init=False)
    buffered_bytes: int = 0
    _buffered: list[pa.Table] = field(default_factory=list)
    _footers: list[pq.FileMetaData] = field(default_factory=list)
    _writer: pq.ParquetWriter = field(init=False)
    _sink: pa.NativeFile = field(init=False)

    def __post_init__(self) -> None:
        self.path = self.layout.new_path(self.partition)
        whole = os.path.join(self.layout.directory, self.path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        self._sink = pa.OSFile(whole, "wb")
        self._writer = pq.ParquetWriter(
            self._sink,
            self.layout.file_schema,
            compression=_COMPRESSION,
            metadata_collector=self._footers,
        )

    @property
    def written_bytes(self) -> int:
        return int(self._sink.tell())

    def add(self, rows: pa.Table) -> None:
        self._buffered.append(rows)
        self.buffered_bytes += rows.nbytes
        if self.buffered_bytes >= ROW_GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._buffered:
            self._writer.write_table(pa.concat_tables(self._buffered))
        self._buffered.clear()
        self.buffered_bytes = 0

    def close(self) -> dict[str, Any]:
        self.flush()
        self._writer.close()
        size_bytes = self.written_bytes
        self._sink.close()
        footer = pa.BufferOutputStream()
        self._footers[0].write_metadata_file(footer)
        return {
            "path": self.path,
            "size_bytes": size_bytes,
            "row_count": self._footers[0].num_rows,
            "partition": self.partition,
            "footer": footer.getvalue().to_pybytes(),
        }


def split(table: pa.Table, layout: Layout) -> Iterator[tuple[Partition, pa.Table]]:
    """The rows of each partition, and its values as text."""
    names = list(layout.partition_by)
    if not names:
        yield (), table
        return
    texts = pa.table([_to_text(table[name], layout) for name in names], names=names)
    partitions = texts.group_by(names).aggregate([]).to_pylist()
    for each in partitions:
        if len(partitions) == 1:
            yield tuple(each.values()), table
            return
        mask = pa.scalar(True)
        for name, value in each.items():
            same = pc.is_null(texts[name]) if value is None else pc.equal(texts[name], value)
            mask = pc.and_(mask, same)
        yield tuple(each.values()), table.filter(mask)


def _to_text(column: pa.ChunkedArray, layout: Layout) -> pa.ChunkedArray:
    text = pc.cast(column, pa.string())
    # In a path nothing is null: so it is to Delta, and to Spark.
    return pc.if_else(pc.equal(text, ""), None, text) if layout.is_hive else text


def _escape(value: str | None) -> str:
    """A name or value as a part of a path, in the way of Hive."""
    if value is None:
        return NULL_PARTITION
    return "".join(f"%{ord(each):02X}" if each in _ESCAPED else each for each in value)
