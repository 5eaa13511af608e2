"""What becomes of decoded rows: the transformation and the checks, DataFrame -> DataFrame.

Rows keep their coordinates through it: by them a rejected row is traced to its record, and the
table is audited. Not here: what is done with rejected rows (dead_letters.py).
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from snakka.config.problems import nearest
from snakka.pipeline.declared.declaration import Pipeline, Transform
from snakka.pipeline.declared.decoding import COORDINATES, REASON
from snakka.pipeline.errors import OptionError, SchemaError

VIEW: Final = "source"


def make_transformation(pipeline: Pipeline, spark: SparkSession) -> Transform:
    """The function that the pipeline declares; OptionError where there is none of that name."""
    if isinstance(pipeline.function, str):
        return _find_function(pipeline.function, pipeline.directory, spark)
    if pipeline.function is not None:
        return pipeline.function
    if pipeline.sql:
        return lambda rows: _select(rows, pipeline.sql)
    return _unchanged


def check_coordinates(rows: DataFrame) -> None:
    """Raises SchemaError where the transformation has lost what tells rows apart."""
    lost = [each for each in COORDINATES if each not in rows.columns]
    if lost:
        raise SchemaError(
            f"column {lost[0]}: the transformation has dropped it. Keep {', '.join(COORDINATES)},"
            " or set coordinates = false: the table cannot be audited then"
        )


def with_reason(rows: DataFrame, checks: Mapping[str, str]) -> DataFrame:
    """The rows, and which check is not true for them; null where all are."""
    failed = [
        sf.when(~sf.coalesce(sf.expr(each), sf.lit(False)), sf.lit(f"check {name}: is not true"))
        for name, each in checks.items()
    ]
    return rows.withColumn(REASON, sf.coalesce(*failed))


def _unchanged(rows: DataFrame) -> DataFrame:
    return rows


def _select(rows: DataFrame, sql: str) -> DataFrame:
    rows.createOrReplaceTempView(VIEW)
    # A micro-batch has a session of its own, and with it its views.
    return rows.sparkSession.sql(sql)


def _find_function(name: str, directory: Path, spark: SparkSession) -> Transform:
    module_name, _, function_name = name.partition(":")
    place = str(directory.absolute())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise OptionError(f"transform.function={name}: {error}") from None
    file = Path(module.__file__ or "")
    if file.parent == directory.absolute():
        spark.sparkContext.addPyFile(str(file))  # its own functions of rows run in the tasks
    function = getattr(module, function_name, None)
    if not callable(function):
        known = [each for each in vars(module) if callable(getattr(module, each))]
        hint = nearest(function_name, known)
        raise OptionError(
            f"transform.function={name}: {module_name} has no function {function_name}{hint}"
        )
    found: Transform = function
    return found
