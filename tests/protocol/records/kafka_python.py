"""What these tests use of kafka-python, an independent reader and writer of every format."""

import warnings

with warnings.catch_warnings():
    # It reads its schemas by a function that Python deprecates, and warnings are errors here.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import codec
    from kafka.record.default_records import DefaultRecordBatchBuilder
    from kafka.record.legacy_records import LegacyRecordBatchBuilder
    from kafka.record.memory_records import MemoryRecords

__all__ = ["DefaultRecordBatchBuilder", "LegacyRecordBatchBuilder", "MemoryRecords", "codec"]
