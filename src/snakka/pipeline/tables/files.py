"""Files on disk that no version of a table has: found by age, and deleted.

Not here: which files a version has (delta.py, iceberg.py, parquet.py).
"""

import os
from collections.abc import Iterable
from pathlib import Path

from snakka.pipeline.tables.table import Swept


def find_older(directory: str, patterns: Iterable[str], older_than_ms: int) -> list[Path]:
    """The files below a directory that were last written before a moment."""
    found = []
    for pattern in patterns:
        for each in Path(directory).glob(pattern):
            try:
                is_older = each.stat().st_mtime_ns < older_than_ms * 1_000_000
            except FileNotFoundError:
                continue  # somebody else was faster
            if is_older:
                found.append(each)
    return found


def delete(paths: Iterable[str | Path]) -> Swept:
    """Deletes files, as far as they are there."""
    count = size_bytes = 0
    for each in paths:
        try:
            size = os.stat(each).st_size
            os.unlink(each)
        except FileNotFoundError:
            continue  # somebody else was faster
        count += 1
        size_bytes += size
    return Swept(count, 0, size_bytes)
