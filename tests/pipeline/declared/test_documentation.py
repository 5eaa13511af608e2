"""What the guide to pipelines shows: its declarations are read, its notebook runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from snakka.pipeline.declared.declaration_file import load_pipeline

DOCS = Path(__file__).parents[3] / "docs"
DECLARATION = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", DECLARATION.findall((DOCS / "pipelines.md").read_text()))
def test_declarations_are_as_they_should_be(tmp_path: Path, text: str) -> None:
    file = tmp_path / "shown.toml"
    file.write_text(text)
    assert load_pipeline(file).name in text


def test_the_notebook_runs_cell_by_cell(spark: SparkSession) -> None:
    notebook = json.loads((DOCS / "first-pipeline.ipynb").read_text())
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert sum(step.row_count for step in names["steps"]) == 840
    assert sum(each.rejected_count for each in names["found"].partitions) == 160
