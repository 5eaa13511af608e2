"""Options to a table, or to a message that says what is wrong with them."""

import os
from pathlib import Path

import pytest

from snakka.pipeline.errors import OptionError
from snakka.pipeline.tables.opening import FORMATS, table_for
from snakka.pipeline.tables.table import TableOptions


@pytest.mark.parametrize("name", FORMATS)
def test_opening_makes_nothing(tmp_path: Path, name: str) -> None:
    table = table_for(TableOptions(name, f"file://{tmp_path}/t"))
    assert table.options.location == str(tmp_path / "t")
    assert table.find_offsets("p") is None
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            TableOptions("detla", "/t"),
            r"'detla' is none of .*; did you mean delta",
        ),
        (TableOptions("csv", "/t"), "'csv' is none of delta, iceberg, parquet$"),
        (TableOptions("delta", "s3://bucket/t"), "'s3://bucket/t' is not a directory"),
        (TableOptions("delta", ""), "'' is not a directory"),
        (TableOptions("delta", "/t", ("a", "b", "a")), "names a column twice"),
    ],
)
def test_what_is_wrong_is_named(options: TableOptions, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        table_for(options)
