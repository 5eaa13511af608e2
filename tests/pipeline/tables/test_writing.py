"""What a task writes."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from snakka.pipeline.tables import writing
from snakka.pipeline.tables.writing import NULL_PARTITION, Layout
from tests.pipeline.tables.writing_here import numbers, write_here

KINDS = pa.schema([("id", pa.int64()), ("kind", pa.string())])


def batches(count: int, size: int) -> pa.Table:
    return pa.concat_tables(numbers(at * size, (at + 1) * size) for at in range(count))


def test_small_batches_become_one_row_group(tmp_path: Path) -> None:
    (file,) = write_here(batches(20, 100), Layout(str(tmp_path), numbers(0, 0).schema))
    assert (file.row_count, file.footer.num_rows, file.footer.num_row_groups) == (2000, 2000, 1)
    assert file.size_bytes == (tmp_path / file.path).stat().st_size
    assert pq.read_table(tmp_path / file.path)["offset"].to_pylist() == list(range(2000))


def test_memory_and_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "ROW_GROUP_BYTES", 4000)
    monkeypatch.setattr(writing, "FILE_BYTES_MAX", 1000)
    files = write_here(batches(20, 100), Layout(str(tmp_path), numbers(0, 0).schema))
    assert len(files) > 1
    assert all(each.footer.row_group(0).num_rows <= 500 for each in files)
    found = [
        at for each in files for at in pq.read_table(tmp_path / each.path)["offset"].to_pylist()
    ]
    assert sorted(found) == list(range(2000))


def test_few_files_are_open_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "OPEN_FILES_MAX", 2)
    monkeypatch.setattr(writing, "BUFFERED_BYTES_MAX", 1)
    rows = pa.table({"id": range(9), "kind": list("abcabcabc")}, KINDS)
    files = write_here(pa.concat_tables([rows, rows]), Layout(str(tmp_path), KINDS, ("kind",)))
    assert sum(each.row_count for each in files) == 18
    assert {each.partition for each in files} == {("a",), ("b",), ("c",)}


def test_values_of_partitions_are_in_the_path(tmp_path: Path) -> None:
    rows = pa.table({"id": range(4), "kind": ["a/b", None, "", "ü%{"]}, KINDS)
    files = write_here(rows, Layout(str(tmp_path), KINDS, ("kind",)))
    named = {Path(each.path).parent.name: each for each in files}
    assert {name: each.partition for name, each in named.items()} == {
        "kind=a%2Fb": ("a/b",),
        f"kind={NULL_PARTITION}": (None,),
        "kind=ü%25%7B": ("ü%{",),
    }
    assert named[f"kind={NULL_PARTITION}"].row_count == 2
    assert pq.ParquetFile(tmp_path / files[0].path).schema_arrow.names == ["id"]


def test_values_of_partitions_stay_in_the_file_where_paths_are_plain(tmp_path: Path) -> None:
    rows = pa.table({"id": range(3), "kind": ["a", None, ""]}, KINDS)
    files = write_here(rows, Layout(str(tmp_path), KINDS, ("kind",), is_hive=False))
    assert {each.partition for each in files} == {("a",), (None,), ("",)}
    found = [each for file in files for each in pq.read_table(tmp_path / file.path).to_pylist()]
    assert sorted(found, key=lambda row: row["id"]) == rows.to_pylist()
