"""Spark's classes that came after 4.0, and stand-ins where they are not there yet.

Admission control and Trigger.AvailableNow came with 4.2, streaming writers in Arrow with 4.1:
before that a writer is given single rows.
"""

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxRows,
        SupportsTriggerAvailableNow,
    )
except ImportError:
    from dataclasses import dataclass

    class ReadLimit:  # type: ignore[no-redef]
        """How much a micro-batch may take in."""

    @dataclass
    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef]
        """Everything."""

    @dataclass
    class ReadMaxRows(ReadLimit):  # type: ignore[no-redef]
        max_rows: int

    @dataclass
    class ReadMaxBytes(ReadLimit):  # type: ignore[no-redef]
        max_bytes: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Spark reads what is there in one micro-batch without asking the source."""


try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter
except ImportError:
    from pyspark.sql.datasource import (  # type: ignore[assignment]
        DataSourceStreamWriter as DataSourceStreamArrowWriter,
    )


__all__ = [
    "DataSourceStreamArrowWriter",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxBytes",
    "ReadMaxRows",
    "SupportsTriggerAvailableNow",
]
