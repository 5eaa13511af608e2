"""What was read of a topic, as an Arrow table. Needs pyarrow (the extra `spark`)."""

from collections.abc import Iterable

import pyarrow as pa

from snakka.client.fetched import Fetched
from snakka.protocol.records.arrow import SCHEMA, to_record_batch

_PARTITION = pa.field("partition", pa.int32())


def to_table(fetched: Iterable[Fetched]) -> pa.Table:
    """The columns of records/arrow.py, after the partition of each record."""
    schema = pa.schema([_PARTITION, *SCHEMA])
    batches = []
    for each in fetched:
        for columns in each.columns():
            batch = to_record_batch(columns)
            partitions = pa.array([each.partition.partition] * batch.num_rows, pa.int32())
            arrays = [partitions, *batch.columns]
            batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema)
