"""What Delta keeps of a file's columns so that a reader may pass over the file. Pure.

Smallest and largest values are kept of whole numbers, dates, timestamps and short text. Leaving one
out costs a reader time and nothing else; a footer's range of floating point numbers does not tell
whether there is NaN, which is larger than all others to Spark.
"""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS_MAX: Final = 32  # as many as Delta itself looks at
_TEXT_MAX: Final = 64

_Path = tuple[str, ...]


def delta_statistics(footer: pq.FileMetaData) -> str:
    """The statistics of a file in the JSON of Delta's log."""
    smallest: dict[str, Any] = {}
    largest: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
    for at, path in enumerate(_leaves(footer.schema.to_arrow_schema())):
        if path is None or at >= COLUMNS_MAX:
            continue
        columns = [group.column(at).statistics for group in groups]
        if not columns or any(each is None or not each.has_null_count for each in columns):
            continue
        _put(nulls, path, sum(each.null_count for each in columns))
        with_values = [each for each in columns if each.has_min_max]
        # A row group of nulls has no range; one of values may lack it, and then nothing is known.
        if with_values and all(each.has_min_max or not each.num_values for each in columns):
            low = _to_json(min(each.min for each in with_values))
            high = _to_json(max(each.max for each in with_values))
            if low is not None and high is not None:
                _put(smallest, path, low)
                _put(largest, path, high)
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": smallest,
            "maxValues": largest,
            "nullCount": nulls,
        }
    )


def _leaves(schema: pa.Schema) -> Iterator[_Path | None]:
    """The columns of a file in its order; None stands for one within a list or map."""
    for each in schema:
        yield from _leaves_of(each.type, (each.name,))


def _leaves_of(data_type: pa.DataType, path: _Path | None) -> Iterator[_Path | None]:
    if pa.types.is_struct(data_type):
        for each in data_type:
            yield from _leaves_of(each.type, None if path is None else (*path, each.name))
    elif pa.types.is_map(data_type):
        yield from _leaves_of(data_type.key_type, None)
        yield from _leaves_of(data_type.item_type, None)
    elif pa.types.is_list(data_type):
        yield from _leaves_of(data_type.value_type, None)
    else:
        yield path


def _put(tree: dict[str, Any], path: _Path, value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value


def _to_json(value: Any) -> Any:
    match value:
        case bool() | bytes():
            return None
        case int():
            return value
        case str():
            return value if len(value) <= _TEXT_MAX else None
        case datetime():
            text = value.astimezone(UTC) if value.tzinfo else value
            return text.strftime("%Y-%m-%dT%H:%M:%S.%f") + ("Z" if value.tzinfo else "")
        case date():
            return value.isoformat()
    return None
