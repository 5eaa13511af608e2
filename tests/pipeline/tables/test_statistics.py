"""What Delta's log says of a file, held against the rows of the file."""

import datetime
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from snakka.pipeline.tables.statistics import COLUMNS_MAX, delta_statistics


def statistics(table: pa.Table, **options: Any) -> dict[str, Any]:
    written = io.BytesIO()
    pq.write_table(table, written, **options)
    found: dict[str, Any] = json.loads(delta_statistics(pq.read_metadata(written)))
    return found


def test_over_all_row_groups() -> None:
    found = statistics(
        pa.table({"a": [3, None, 1, 2], "b": ["x", "z", "y", None]}), row_group_size=2
    )
    assert found == {
        "numRecords": 4,
        "minValues": {"a": 1, "b": "x"},
        "maxValues": {"a": 3, "b": "z"},
        "nullCount": {"a": 1, "b": 1},
    }


def test_a_row_group_of_nulls_has_no_part_in_the_range() -> None:
    column = pa.array([None, None, 5, 6], pa.int64())
    found = statistics(pa.table({"a": column}), row_group_size=2)
    assert (found["minValues"], found["maxValues"]) == ({"a": 5}, {"a": 6})
    only = statistics(pa.table({"a": column[:2]}))
    assert (only["minValues"], only["nullCount"]) == ({}, {"a": 2})


def test_fields_within_structs_but_not_within_lists_and_maps() -> None:
    rows = [{"s": {"x": 1, "l": [1, 2]}, "m": {"k": 1}, "z": 9}]
    inner = pa.struct([("x", pa.int32()), ("l", pa.list_(pa.int32()))])
    types = pa.schema([("s", inner), ("m", pa.map_(pa.string(), pa.int32())), ("z", pa.int32())])
    rows[0]["m"] = [("k", 1)]
    found = statistics(pa.Table.from_pylist(rows, types))
    assert found["minValues"] == {"s": {"x": 1}, "z": 9}
    assert found["nullCount"] == {"s": {"x": 0}, "z": 0}


def test_values_without_a_sure_and_short_range_are_left_out() -> None:
    at = datetime.datetime(1969, 12, 31, 23, 59, 59, 1, datetime.UTC)
    table = pa.table(
        {
            "ratio": [float("nan"), 1.0],
            "long": ["x" * 65, "a"],
            "raw": [b"a", b"b"],
            "at": pa.array([at, at], pa.timestamp("us", tz="UTC")),
            "local": pa.array([at.replace(tzinfo=None)] * 2, pa.timestamp("us")),
            "day": [at.date(), at.date()],
        }
    )
    assert statistics(table)["maxValues"] == {
        "at": "1969-12-31T23:59:59.000001Z",
        "local": "1969-12-31T23:59:59.000001",
        "day": "1969-12-31",
    }


def test_of_many_columns_only_the_first() -> None:
    found = statistics(pa.table({f"c{at}": [at] for at in range(COLUMNS_MAX + 5)}))
    assert len(found["minValues"]) == len(found["nullCount"]) == COLUMNS_MAX


def test_no_rows() -> None:
    found = statistics(pa.table({"a": pa.array([], pa.int64())}))
    assert (found["numRecords"], found["minValues"]) == (0, {})
