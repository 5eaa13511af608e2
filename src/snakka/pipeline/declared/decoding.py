"""Records of the sources to columns, and the reason where that fails.

Rows come as the source `snakka` gives them. They leave with their coordinates, the columns of
their values, the record as it was, and a reason, which is null for good ones.

Not here: the formats, one module each.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import BinaryType, DataType, StringType, StructType

from snakka.pipeline.declared.declaration import (
    AVRO,
    JSON,
    PROTOBUF,
    RAW,
    STRING,
    Decoding,
    Source,
)
from snakka.pipeline.declared.json_values import decode_json, read_json_schema
from snakka.pipeline.declared.python_values import decode_in_python
from snakka.pipeline.errors import SchemaError

TOPIC: Final = "_topic"
PARTITION: Final = "_partition"
OFFSET: Final = "_offset"
TIMESTAMP: Final = "_timestamp"
PLACE: Final = (TOPIC, PARTITION, OFFSET)
COORDINATES: Final = (*PLACE, TIMESTAMP)
KEY: Final = "_key"
RECORD: Final = "_record"
REASON: Final = "_reason"
_VALUE: Final = "_value"
_RESERVED: Final = frozenset({*COORDINATES, KEY, RECORD, REASON, _VALUE})

Decoder = Callable[[DataFrame, str, str], DataFrame]


@dataclass(frozen=True, slots=True)
class SourceDecoder:
    """A source, and what makes columns of its keys and values."""

    source: Source
    value_type: DataType
    value: Decoder
    key: Decoder | None

    @property
    def may_reject(self) -> bool:
        keyed = self.source.key
        return any(each.format != RAW for each in (self.source.value, *([keyed] if keyed else [])))

    def __call__(self, rows: DataFrame) -> DataFrame:
        """The rows of this source."""
        decoded = self.value(
            rows.selectExpr("*", *_COPIED).transform(self._chosen), "value", _VALUE
        )
        reasons = [_told(_VALUE, "value")]
        if self.key is not None:
            decoded = self.key(decoded, "key", KEY)
            # Records without keys are common, and no fault.
            reasons.append(sf.when(sf.col("key").isNotNull(), _told(KEY, "key")))
        keys = [] if self.key is None else [sf.col(KEY)["value"].alias(KEY)]
        return decoded.select(
            *COORDINATES, *keys, *self._columns(), RECORD, sf.coalesce(*reasons).alias(REASON)
        )

    def _chosen(self, rows: DataFrame) -> DataFrame:
        return rows.where(sf.col("topic").isin(*self.source.topics))

    def _columns(self) -> list[Column]:
        value = sf.col(_VALUE)["value"]
        if not isinstance(self.value_type, StructType):
            return [value.alias("value")]
        return [value[each].alias(each) for each in self.value_type.fieldNames()]


_COPIED: Final = (
    *(f"{name.removeprefix('_')} AS {name}" for name in COORDINATES),
    f"struct(key, value, headers) AS {RECORD}",
)


def _told(column: str, what: str) -> Column:
    return sf.concat(sf.lit(f"{what}: "), sf.col(column)["reason"])


def make_decoder(source: Source, spark: SparkSession) -> SourceDecoder:
    """Reads the schemas; SchemaError where one is wrong."""
    value_type, value = _make(source.value, spark)
    if isinstance(value_type, StructType):
        for each in _RESERVED & set(value_type.fieldNames()):
            raise SchemaError(f"field {each}: is the name of a column that every row has")
    key = None if source.key is None else _make(source.key, spark)[1]
    return SourceDecoder(source, value_type, value, key)


def decode(rows: DataFrame, decoders: Iterable[SourceDecoder]) -> DataFrame:
    """The rows of all sources; where one has a column that another has not, that is null."""
    return reduce(
        lambda one, other: one.unionByName(other, allowMissingColumns=True),
        [rows.transform(each) for each in decoders],
    )


def _make(decoding: Decoding, spark: SparkSession) -> tuple[DataType, Decoder]:
    file = decoding.schema_file
    if decoding.format == JSON:
        ddl = decoding.schema if file is None else file.read_text(encoding="utf-8")
        schema = read_json_schema(ddl, "schema" if file is None else str(file))
        return schema, lambda rows, column, into: decode_json(rows, column, into, schema)
    if decoding.format == AVRO:
        # Imported where it is used: fastavro and protobuf are of the extra `tables`.
        from snakka.pipeline.declared.avro_values import read_avro_format

        assert file is not None
        avro = read_avro_format(file, decoding.framing)
        return avro.schema, lambda rows, column, into: decode_in_python(rows, column, into, avro)
    if decoding.format == PROTOBUF:
        from snakka.pipeline.declared.protobuf_values import read_protobuf_format

        assert file is not None
        proto = read_protobuf_format(file, decoding.message, decoding.framing)
        return proto.schema, lambda rows, column, into: decode_in_python(rows, column, into, proto)
    if decoding.format == STRING:
        return StringType(), _decode_string
    return BinaryType(), _decode_raw


def _decode_raw(rows: DataFrame, column: str, into: str) -> DataFrame:
    return rows.withColumn(into, _accepted(sf.col(column)))


def _decode_string(rows: DataFrame, column: str, into: str) -> DataFrame:
    text = sf.col(column).cast("string")
    reason = sf.when(~sf.is_valid_utf8(text), sf.lit("it is not UTF-8"))
    return rows.withColumn(
        into, sf.struct(sf.when(reason.isNull(), text).alias("value"), reason.alias("reason"))
    )


def _accepted(value: Column) -> Column:
    return sf.struct(value.alias("value"), sf.lit(None).cast("string").alias("reason"))
