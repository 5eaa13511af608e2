"""Protobuf, decoded by Google's own library: a descriptor set and a message's name to columns.

The file is what `protoc --include_imports --descriptor_set_out` writes. Types follow Spark's own
functions, but that unsigned numbers keep their values: uint32 is BIGINT, uint64 DECIMAL(20,0). A
field that knows whether it was set is null where it was not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
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

from snakka.config.problems import nearest
from snakka.pipeline.declared.declaration import CONFLUENT
from snakka.pipeline.declared.framing import unframed, without_message_indexes
from snakka.pipeline.declared.python_values import Decode
from snakka.pipeline.errors import SchemaError

_TIMESTAMP: Final = "google.protobuf.Timestamp"
_UINT64: Final = DecimalType(20, 0)
_F: Final = FieldDescriptor
_TYPES: Final[dict[int, DataType]] = {
    **dict.fromkeys((_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32), IntegerType()),
    **dict.fromkeys((_F.TYPE_INT64, _F.TYPE_SINT64, _F.TYPE_SFIXED64), LongType()),
    **dict.fromkeys((_F.TYPE_UINT32, _F.TYPE_FIXED32), LongType()),
    **dict.fromkeys((_F.TYPE_UINT64, _F.TYPE_FIXED64), _UINT64),
    _F.TYPE_BOOL: BooleanType(),
    _F.TYPE_BYTES: BinaryType(),
    _F.TYPE_DOUBLE: DoubleType(),
    _F.TYPE_ENUM: StringType(),
    _F.TYPE_FLOAT: FloatType(),
    _F.TYPE_STRING: StringType(),
}

Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ProtobufFormat:
    descriptors: bytes
    message: str
    framing: str

    @property
    def schema(self) -> StructType:
        return _struct(self._descriptor(), "", ())

    def make(self) -> Decode:
        descriptor = self._descriptor()
        message_class = GetMessageClass(descriptor)
        convert = _message_converter(descriptor)

        def decode(data: bytes) -> Any:
            body = unframed(data, self.framing)
            if self.framing == CONFLUENT:
                body = without_message_indexes(body)
            message = message_class()
            message.ParseFromString(body)
            return convert(message)

        return decode

    def _descriptor(self) -> Descriptor:
        pool = DescriptorPool()
        for each in FileDescriptorSet.FromString(self.descriptors).file:
            pool.Add(each)
        return pool.FindMessageTypeByName(self.message)


def read_protobuf_format(file: Path, message: str, framing: str) -> ProtobufFormat:
    """Raises SchemaError where the file is no descriptor set, or has no such message."""
    data = file.read_bytes()
    try:
        files = FileDescriptorSet.FromString(data).file
    except DecodeError:
        raise SchemaError(f"{file}: is no descriptor set as protoc writes it") from None
    names = [
        f"{each.package}.{kind.name}".lstrip(".") for each in files for kind in each.message_type
    ]
    form = ProtobufFormat(data, message, framing)
    try:
        if not form.schema.fields:
            raise SchemaError(f"{file}: {message} has no field")
    except KeyError:
        raise SchemaError(f"{file}: has no message {message}{nearest(message, names)}") from None
    except TypeError as error:
        raise SchemaError(f"{file}: {error}; protoc needs --include_imports") from None
    return form


def _struct(descriptor: Descriptor, where: str, outer: tuple[str, ...]) -> StructType:
    if descriptor.full_name in outer:
        raise SchemaError(f"field {where}: {descriptor.full_name} holds itself")
    inner = (*outer, descriptor.full_name)
    return StructType(
        [
            StructField(each.name, _type(each, f"{where}.{each.name}".lstrip("."), inner))
            for each in descriptor.fields
        ]
    )


def _type(field: FieldDescriptor, where: str, outer: tuple[str, ...]) -> DataType:
    if _is_map(field):
        key, value = _pair(field)
        return MapType(_single(key, where, outer), _single(value, where, outer))
    single = _single(field, where, outer)
    return ArrayType(single) if field.is_repeated else single


def _single(field: FieldDescriptor, where: str, outer: tuple[str, ...]) -> DataType:
    if field.message_type is None:
        return _TYPES[field.type]
    if field.message_type.full_name == _TIMESTAMP:
        return TimestampType()
    return _struct(field.message_type, where, outer)


def _is_map(field: FieldDescriptor) -> bool:
    kind = field.message_type
    return bool(field.is_repeated and kind is not None and kind.GetOptions().map_entry)


def _pair(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    names = field.message_type.fields_by_name
    return names["key"], names["value"]


def _message_converter(descriptor: Descriptor) -> Convert:
    if descriptor.full_name == _TIMESTAMP:
        return lambda message: message.ToMicroseconds()
    fields = [(each.name, each.has_presence, _field_converter(each)) for each in descriptor.fields]

    def convert(message: Any) -> dict[str, Any]:
        return {
            name: None
            if has_presence and not message.HasField(name)
            else of_field(getattr(message, name))
            for name, has_presence, of_field in fields
        }

    return convert


def _field_converter(field: FieldDescriptor) -> Convert:
    if _is_map(field):
        of_key, of_value = map(_single_converter, _pair(field))
        return lambda pairs: [(of_key(key), of_value(value)) for key, value in pairs.items()]
    single = _single_converter(field)
    if field.is_repeated:
        return lambda values: [single(each) for each in values]
    return single


def _single_converter(field: FieldDescriptor) -> Convert:
    if field.message_type is not None:
        return _message_converter(field.message_type)
    if field.enum_type is not None:
        names = {number: each.name for number, each in field.enum_type.values_by_number.items()}
        return lambda number: names.get(number, str(number))
    if _TYPES[field.type] is _UINT64:
        return Decimal
    return lambda value: value
