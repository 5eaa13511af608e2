"""What comes before the bytes of a value: the header of Confluent's serializers. Pure.

It is a zero byte and the number of a schema in a registry; with Protobuf the way to the message
within its file follows. The schema is declared, so the header is only passed over.
"""

from typing import Final

from snakka.pipeline.declared.declaration import CONFLUENT

_MAGIC: Final = 0
_HEADER_BYTES: Final = 5
_VARINT_BYTES_MAX: Final = 5


def unframed(data: bytes, framing: str) -> bytes:
    if framing != CONFLUENT:
        return data
    if len(data) < _HEADER_BYTES or data[0] != _MAGIC:
        raise ValueError("there is no Confluent header before it")
    return data[_HEADER_BYTES:]


def without_message_indexes(data: bytes) -> bytes:
    """Passes over the indexes: a count, and so many numbers; all are zigzag varints."""
    count, position = _varint(data, 0)
    for _ in range(count):
        _, position = _varint(data, position)
    return data[position:]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for index in range(_VARINT_BYTES_MAX):
        if position + index >= len(data):
            break
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position + index + 1
    raise ValueError("the message indexes of its Confluent header are cut off")
