"""Avro, decoded by fastavro: a schema file to columns, bytes to a record.

A union is a type or null. Not here: a registry of schemas; the header that names one is passed over
(framing.py).
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastavro import schemaless_reader
from fastavro.schema import SchemaParseException, expand_schema, parse_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from snakka.pipeline.declared.framing import unframed
from snakka.pipeline.declared.python_values import Decode
from snakka.pipeline.errors import SchemaError

_PRIMITIVES: Final[dict[str, DataType]] = {
    "boolean": BooleanType(),
    "bytes": BinaryType(),
    "double": DoubleType(),
    "float": FloatType(),
    "int": IntegerType(),
    "long": LongType(),
    "string": StringType(),
}
_LOGICAL: Final[dict[str, DataType]] = {
    "date": DateType(),
    "local-timestamp-micros": TimestampType(),
    "local-timestamp-millis": TimestampType(),
    "timestamp-micros": TimestampType(),
    "timestamp-millis": TimestampType(),
    "uuid": StringType(),
}
_NOT_SERVED: Final = ("time-millis", "time-micros", "duration")

Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class AvroFormat:
    text: str  # the schema
    framing: str

    @property
    def schema(self) -> StructType:
        kind = _spark_type(_expanded(self.text), "")
        if not isinstance(kind, StructType):
            raise SchemaError("the schema of a value has to be that of a record")
        return kind

    def make(self) -> Decode:
        parsed = parse_schema(json.loads(self.text))
        convert = _converter(_expanded(self.text))

        def decode(data: bytes) -> Any:
            stream = io.BytesIO(unframed(data, self.framing))
            decoded = schemaless_reader(stream, parsed, None)
            left = len(stream.read())
            if left:
                raise ValueError(f"{left} bytes are left after the record")
            return convert(decoded)

        return decode


def read_avro_format(file: Path, framing: str) -> AvroFormat:
    """Raises SchemaError, naming the field, where the schema is none that becomes columns."""
    text = file.read_text(encoding="utf-8")
    try:
        parse_schema(json.loads(text))
        form = AvroFormat(text, framing)
        if not form.schema.fields:
            raise SchemaError("the record has no field")
    except (ValueError, SchemaParseException) as error:
        raise SchemaError(f"{file}: {error}") from None
    return form


def _expanded(text: str) -> Any:
    """The schema with each name replaced by what it stands for."""
    return expand_schema(json.loads(text))


def _spark_type(schema: Any, where: str) -> DataType:
    if isinstance(schema, list):
        return _spark_type(_of_union(schema, where), where)
    if isinstance(schema, str):
        if schema not in _PRIMITIVES:
            raise SchemaError(f"field {where or schema}: {schema} cannot become a column")
        return _PRIMITIVES[schema]
    logical, kind = schema.get("logicalType"), schema["type"]
    if logical in _NOT_SERVED:
        raise SchemaError(f"field {where}: {logical} cannot become a column")
    if logical == "decimal":
        return DecimalType(schema["precision"], schema.get("scale", 0))
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    match kind:
        case "record":
            return StructType(
                [
                    StructField(each["name"], _spark_type(each["type"], _join(where, each["name"])))
                    for each in schema["fields"]
                ]
            )
        case "array":
            return ArrayType(_spark_type(schema["items"], where))
        case "map":
            return MapType(StringType(), _spark_type(schema["values"], where))
        case "enum":
            return StringType()
        case "fixed":
            return BinaryType()
        case _:
            return _spark_type(kind, where)


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _of_union(union: list[Any], where: str) -> Any:
    types = [each for each in union if each != "null"]
    if len(types) != 1:
        raise SchemaError(f"field {where}: a union is a type or null, not {json.dumps(union)}")
    return types[0]


def _converter(schema: Any) -> Convert:
    """What makes of fastavro's values those that Arrow takes: maps as pairs, UUIDs as text."""
    if isinstance(schema, list):
        inner = _converter(_of_union(schema, ""))
        return lambda value: None if value is None else inner(value)
    if isinstance(schema, str):
        return _same
    if schema.get("logicalType") == "uuid":
        return str
    match schema["type"]:
        case "record":
            fields = {each["name"]: _converter(each["type"]) for each in schema["fields"]}
            if all(each is _same for each in fields.values()):
                return _same
            return lambda value: {name: convert(value[name]) for name, convert in fields.items()}
        case "array":
            item = _converter(schema["items"])
            return lambda value: [item(each) for each in value]
        case "map":
            of_value = _converter(schema["values"])
            return lambda value: [(key, of_value(each)) for key, each in value.items()]
        case _:
            return _same


def _same(value: Any) -> Any:
    return value
