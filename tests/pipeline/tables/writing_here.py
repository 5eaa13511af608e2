"""What Spark's tasks and driver do, in one process: for tests that need many, or kill them."""

import pyarrow as pa

from snakka.client.records import TopicPartition
from snakka.pipeline.tables.table import Step
from snakka.pipeline.tables.writing import DataFile, Layout, read_report, write_task

PIPELINE = "orders-to-table"
WHERE = TopicPartition("orders", 0)


def write_here(table: pa.Table, layout: Layout) -> list[DataFile]:
    reports = pa.Table.from_batches(write_task(layout, table.to_batches())).to_pylist()
    return [read_report(each) for each in reports]


def step(begin: int, end: int, pipeline: str = PIPELINE) -> Step:
    return Step(pipeline, {WHERE: begin}, {WHERE: end})


def numbers(begin: int, end: int) -> pa.Table:
    """A row for each offset."""
    return pa.table({"offset": pa.array(range(begin, end), pa.int64())})
