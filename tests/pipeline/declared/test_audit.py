"""The audit: it finds what was planted in a table, and nothing where all is well."""

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from snakka.client.records import TopicPartition
from snakka.pipeline.declared.audit import (
    DIFFERENT,
    DUPLICATE,
    MISSING,
    UNEXPECTED,
    Finding,
    audit,
)
from snakka.pipeline.declared.declaration import Pipeline
from snakka.pipeline.offsets import OffsetRange
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import declare, orders, run
from tests.pipeline.topics import Row, produce, produce_in, transactional_producer


def finding(pipeline: Pipeline, what: str, partition: int, start: int, end: int) -> Finding:
    where = TopicPartition(pipeline.topics[0], partition)
    return Finding(what, OffsetRange(where, start, end), end - start)


def test_gaps_and_duplicates_are_named_and_what_has_no_row_is_no_gap(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    pipeline = declare(broker, tmp_path, partitions=2, sql="SELECT * FROM source WHERE id <> 2")
    (topic,) = pipeline.topics
    produce(broker.bootstrap, topic, [*orders(20), Row(value=b"bad")])
    producer = transactional_producer(broker.bootstrap, topic)
    for is_committed in (False, True):
        producer.begin_transaction()
        produce_in(producer, topic, orders(5, 100, partition=1))
        producer.commit_transaction() if is_committed else producer.abort_transaction()
    run(spark, pipeline)

    found = audit(spark, pipeline, with_contents=True)
    assert found.findings == ()
    counts = [(each.record_count, each.row_count, each.rejected_count) for each in found.partitions]
    assert counts == [(21, 19, 1), (5, 5, 0)]  # the markers and what was aborted are no records

    table = DeltaTable(str(tmp_path / "table"))
    rows = table.to_pyarrow_table()
    is_copied = [
        partition == 0 and offset in (7, 9)
        for partition, offset in zip(
            rows["_partition"].to_pylist(), rows["_offset"].to_pylist(), strict=True
        )
    ]
    copied = rows.filter(is_copied)
    table.delete("_partition = 0 AND _offset IN (4, 5, 6, 12)")
    table.update(new_values={"name": "forged"}, predicate="_offset = 15")
    write_deltalake(str(tmp_path / "table"), copied, mode="append")
    beyond = rows.slice(0, 1).set_column(
        rows.schema.get_field_index("_offset"), "_offset", pa.array([500], pa.int64())
    )
    write_deltalake(str(tmp_path / "table"), beyond, mode="append")
    produce(broker.bootstrap, topic, orders(3, 30))  # not read yet: no gap

    expected = [
        finding(pipeline, MISSING, 0, 4, 7),
        finding(pipeline, DUPLICATE, 0, 7, 8),
        finding(pipeline, DUPLICATE, 0, 9, 10),
        finding(pipeline, MISSING, 0, 12, 13),
        finding(pipeline, DIFFERENT, 0, 15, 16),
        finding(pipeline, UNEXPECTED, beyond["_partition"][0].as_py(), 500, 501),
    ]
    found = audit(spark, pipeline, with_contents=True)
    assert list(found.findings) == sorted(expected, key=lambda each: each.range)
