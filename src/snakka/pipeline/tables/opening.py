"""The table that options declare.

Not here: what a format makes of its properties (delta.py, iceberg.py, parquet.py).
"""

import importlib
import os
from dataclasses import replace
from typing import Final

from snakka.config.problems import nearest
from snakka.pipeline.errors import OptionError
from snakka.pipeline.tables.file_table import FileTable, TableLog
from snakka.pipeline.tables.table import Table, TableOptions

DEFAULT_FORMAT: Final = "delta"
# Imported on use: each asks for a library of its own.
_LOGS: Final = {
    "delta": ("snakka.pipeline.tables.delta", "DeltaLog"),
    "iceberg": ("snakka.pipeline.tables.iceberg", "IcebergLog"),
    "parquet": ("snakka.pipeline.tables.parquet", "ParquetLog"),
}
FORMATS: Final = tuple(_LOGS)
_FILE_SCHEME: Final = "file://"


def table_for(options: TableOptions) -> Table:
    """The table, which need not exist yet; OptionError where the options do not fit together."""
    placed = replace(options, location=_directory(options.location))
    return FileTable(placed, log_for(placed))


def log_for(options: TableOptions) -> TableLog:
    """The log of a table whose location is an absolute path."""
    if options.format not in _LOGS:
        near = nearest(options.format, FORMATS)
        raise OptionError(f"table format {options.format!r} is none of {', '.join(FORMATS)}{near}")
    if len(set(options.partition_by)) < len(options.partition_by):
        raise OptionError(f"partition_by {', '.join(options.partition_by)}: names a column twice")
    module, name = _LOGS[options.format]
    try:
        log_class = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise OptionError(
            f"table format {options.format} needs {error.name}: pip install snakka[tables]"
        ) from None
    log: TableLog = log_class(options)
    return log


def _directory(location: str) -> str:
    """The location as an absolute path."""
    path = location.removeprefix(_FILE_SCHEME)
    if not path or "://" in path:
        raise OptionError(
            f"table location {location!r} is not a directory of a file system, such as /data/orders"
        )
    return os.path.abspath(path)
