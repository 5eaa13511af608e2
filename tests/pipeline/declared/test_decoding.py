"""Each format: good values become columns, bad ones dead letters that tell why and whence."""

import io
import json
import struct
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastavro import schemaless_writer
from fastavro.schema import parse_schema
from google.protobuf import descriptor_pb2 as pb
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP_FILE
from pyspark.sql import SparkSession

from snakka.pipeline.declared.avro_values import read_avro_format
from snakka.pipeline.declared.declaration import Decoding, Source
from snakka.pipeline.declared.protobuf_values import read_protobuf_format
from snakka.pipeline.errors import SchemaError
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import declare, letters, run, table
from tests.pipeline.topics import Row, make_topic, produce

AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "paid", "type": {
            "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
        {"name": "state", "type": {
            "type": "enum", "name": "State", "symbols": ["OPEN", "SHIPPED"]}},
        {"name": "items", "type": {"type": "array", "items": {
            "type": "record", "name": "Line", "fields": [{"name": "count", "type": "int"}]}}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}  # fmt: skip
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
ORDER = {
    "id": 7,
    "day": date(2026, 1, 31),
    "paid": Decimal("12.50"),
    "tags": {"a": "b"},
    "state": "SHIPPED",
    "items": [{"count": 1}, {"count": 2}],
    "at": AT,
}
CONFLUENT = struct.pack(">bI", 0, 42)


def avro(order: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    schemaless_writer(stream, parse_schema(AVRO), order)
    return stream.getvalue()


def descriptors() -> pb.FileDescriptorSet:
    """As protoc would write it for shop.proto."""
    field = pb.FieldDescriptorProto
    file = pb.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    file.enum_type.add(name="State").value.add(name="OPEN", number=0)
    line = file.message_type.add(name="Line")
    line.field.add(name="count", number=1, type=field.TYPE_UINT64, label=field.LABEL_OPTIONAL)
    order = file.message_type.add(name="Order")
    entry = order.nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    for number, name in enumerate(("key", "value"), 1):
        entry.field.add(name=name, number=number, type=field.TYPE_STRING, label=1)
    order.field.add(name="id", number=1, type=field.TYPE_INT64, label=1)
    order.field.add(name="state", number=2, type=field.TYPE_ENUM, type_name=".shop.State", label=1)
    order.field.add(
        name="lines", number=3, type=field.TYPE_MESSAGE, type_name=".shop.Line", label=3
    )
    order.field.add(
        name="tags", number=4, type=field.TYPE_MESSAGE, type_name=".shop.Order.TagsEntry", label=3
    )
    kind = ".google.protobuf.Timestamp"
    order.field.add(name="at", number=5, type=field.TYPE_MESSAGE, type_name=kind, label=1)
    timestamp = pb.FileDescriptorProto.FromString(TIMESTAMP_FILE.serialized_pb)
    return pb.FileDescriptorSet(file=[timestamp, file])


def protobuf() -> bytes:
    pool = DescriptorPool()
    for each in descriptors().file:
        pool.Add(each)
    order: Any = GetMessageClass(pool.FindMessageTypeByName("shop.Order"))()
    order.id = 9
    order.lines.add().count = 1 << 63
    order.tags["a"] = "b"
    return bytes(order.SerializeToString())


def test_each_format_gives_rows_and_dead_letters(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    topics = {each: make_topic(broker.bootstrap) for each in ("json", "avro", "protobuf", "string")}
    (tmp_path / "order.avsc").write_text(json.dumps(AVRO))
    (tmp_path / "shop.desc").write_bytes(descriptors().SerializeToString())
    good = {
        "json": b'{"id": 1, "at": "2026-01-31T12:00:00Z", "more": true}',
        "avro": CONFLUENT + avro(ORDER),
        "protobuf": protobuf(),
        "string": "grüße".encode(),
    }
    bad: dict[str, list[bytes]] = {
        "json": [b"[1]", b'{"id": "x"}', b'{"at": null}', b"\xff{}", b""],
        "avro": [avro(ORDER), CONFLUENT + b"\x02", CONFLUENT + avro(ORDER) + b"!"],
        "protobuf": [b"\xff"],
        "string": [b"\xff"],
    }
    for name, topic in topics.items():
        values = [good[name], *bad[name], good[name]]
        produce(broker.bootstrap, topic, [Row(value=each) for each in values])
    how = {
        "json": Decoding("json", "id BIGINT NOT NULL, at TIMESTAMP"),
        "avro": Decoding("avro", schema_file=tmp_path / "order.avsc", framing="confluent"),
        "protobuf": Decoding("protobuf", schema_file=tmp_path / "shop.desc", message="shop.Order"),
        "string": Decoding("string"),
    }
    pipeline = declare(
        broker,
        tmp_path,
        sources=tuple(Source((topic,), how[name]) for name, topic in topics.items()),
        sql="SELECT *, items[0].count AS item, lines[0].count AS line, tags['a'] AS a FROM source",
    )
    (step,) = run(spark, pipeline)
    assert (step.row_count, step.rejected_count) == (8, 10)

    rows = {row._topic: row for row in table(spark, pipeline).collect()}
    row = rows[topics["json"]]
    assert (row.id, row.at, row.value) == (1, AT.replace(tzinfo=None), None)
    row = rows[topics["avro"]]
    found = (row.id, row.day, row.paid, row.a, row.state, row["items"], row.item, row.at)
    items = [(1,), (2,)]
    at = AT.replace(tzinfo=None)
    assert found == (7, date(2026, 1, 31), Decimal("12.50"), "b", "SHIPPED", items, 1, at)
    row = rows[topics["protobuf"]]
    assert (row.id, row.a, row.state, int(row.line), row.at) == (9, "b", "OPEN", 1 << 63, None)
    assert rows[topics["string"]].value == "grüße"

    reasons = {(topic, offset): reason for topic, offset, _, reason in letters(spark, pipeline)}
    told = {
        name: [reasons.pop((topics[name], i + 1)) for i in range(len(bad[name]))] for name in bad
    }
    assert not reasons
    assert told["json"] == [
        f"value: {each}"
        for each in (
            "it is not a JSON object",
            "field id: is not bigint",
            "field id: is missing",
            "it is not UTF-8",
            "it is not a JSON object",
        )
    ]
    assert "there is no Confluent header" in told["avro"][0]
    assert "EOFError" in told["avro"][1]
    assert "1 bytes are left" in told["avro"][2]
    assert "DecodeError" in told["protobuf"][0]
    assert told["string"] == ["value: it is not UTF-8"]
    originals = {(topic, offset): value for topic, offset, value, _ in letters(spark, pipeline)}
    assert originals[topics["avro"], 2] == bad["avro"][1]


def test_keys_are_decoded_too_and_a_schema_is_inferred_once(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    file = tmp_path / "orders.ddl"
    pipeline = declare(broker, tmp_path, dead_letter_topic=None)
    (topic,) = pipeline.topics
    decoding = Decoding("json", schema_file=file, infer_sample=10)
    source = Source((topic,), decoding, key=Decoding("json", "region STRING"))
    rows = [Row(b'{"region": "eu"}', b'{"id": 1, "deep": {"x": [1.5]}}'), Row(None, b'{"id": 3}')]
    produce(broker.bootstrap, topic, rows)
    pipeline = replace(pipeline, sources=(source,), sql="SELECT *, _key.region FROM source")
    run(spark, pipeline)
    assert file.read_text() == "deep STRUCT<x: ARRAY<DOUBLE>>,id BIGINT\n"
    produce(broker.bootstrap, topic, [Row(b'{"region": "us"}', b'{"id": 2, "new": 1}')])
    run(spark, pipeline)
    found = table(spark, pipeline).orderBy("id").select("id", "region", "deep.x").collect()
    assert [tuple(row) for row in found] == [(1, "eu", [1.5]), (2, "us", None), (3, None, None)]
    assert "new" not in table(spark, pipeline).columns


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (["int", "string"], "field x: a union is a type or null"),
        ("Order", "field x: Order cannot become a column"),
        ({"type": "int", "logicalType": "time-millis"}, "field x: time-millis"),
    ],
)
def test_a_schema_that_does_not_become_columns_is_refused(
    tmp_path: Path, kind: Any, complaint: str
) -> None:
    file = tmp_path / "order.avsc"
    schema = {"type": "record", "name": "Order", "fields": [{"name": "x", "type": kind}]}
    file.write_text(json.dumps(schema))
    with pytest.raises(SchemaError, match=complaint):
        read_avro_format(file, "none")
    file.write_bytes(descriptors().SerializeToString())
    with pytest.raises(SchemaError, match=r"did you mean shop\.Order"):
        read_protobuf_format(file, "shop.Ordre", "none")
