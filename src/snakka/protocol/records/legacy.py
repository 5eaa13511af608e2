"""Message formats v0 and v1 (magic 0 and 1), read only, so that old directories stay readable.

A compressed message wraps a message set. In v0 the inner offsets are absolute; in v1 they count
within the wrapper, whose own offset is that of its last message (KIP-31, KIP-32).

Not here: writing these formats, which Kafka 4 refuses too.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import (
    MAGIC,
    MAGIC_POSITION,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    CorruptBatchError,
    batches,
)
from snakka.protocol.records.compression import DEFAULT_LIMIT_BYTES, Compression, decompress
from snakka.protocol.records.record import Record
from snakka.protocol.types import Buffer

_PREFIX = struct.Struct(">qi")
_CRC_MAGIC_ATTRIBUTES = struct.Struct(">IbB")
_INT64 = struct.Struct(">q")
_INT32 = struct.Struct(">i")
_CRC_BYTES: Final = 4
_COMPRESSION_MASK: Final = 0x07
_LZ4_MAGIC: Final = bytes.fromhex("04224d18")


class _Message(NamedTuple):
    offset: int
    magic: int
    attributes: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None

    @property
    def compression(self) -> Compression:
        codec = self.attributes & _COMPRESSION_MASK
        if codec > Compression.LZ4:
            raise MalformedError("message", MAGIC_POSITION, f"unknown compression {codec}")
        return Compression(codec)

    def record(self, offset: int, timestamp_ms: int) -> Record:
        return Record(offset, timestamp_ms, self.key, self.value)


def read_records(
    buffer: Buffer, *, limit_bytes: int = DEFAULT_LIMIT_BYTES, ignore_partial_tail: bool = False
) -> Iterator[Record]:
    """Every record of a buffer, whatever the formats in it; checksums are verified.

    Control batches are passed over, as they are none of a reader's records.
    """
    view = memoryview(buffer)
    position = 0
    while position < len(view):
        left = len(view) - position
        if left <= MAGIC_POSITION:
            if ignore_partial_tail:
                return
            raise MalformedError("message set", position, "truncated")
        size = _PREFIX.unpack_from(view, position)[1] + _PREFIX.size
        if size > left and ignore_partial_tail:
            return
        if not MAGIC_POSITION < size <= left:
            raise MalformedError("message set", position, f"{size} bytes, but {left} are left")
        entry = view[position : position + size]
        if entry[MAGIC_POSITION] == MAGIC:
            for batch in batches(entry):
                batch.verify_crc()
                if not batch.header.is_control:
                    yield from batch.records(limit_bytes)
        else:
            yield from read_legacy_records(entry, limit_bytes=limit_bytes)
        position += size


def read_legacy_records(
    buffer: Buffer, *, limit_bytes: int = DEFAULT_LIMIT_BYTES
) -> Iterator[Record]:
    """The records of a message set of magic 0 and 1, the wrapped ones included."""
    for message in _messages(memoryview(buffer)):
        if message.compression is Compression.NONE:
            yield message.record(message.offset, message.timestamp_ms)
        else:
            yield from _unwrap(message, limit_bytes)


def _unwrap(wrapper: _Message, limit_bytes: int) -> Iterator[Record]:
    if wrapper.value is None:
        raise MalformedError("message", MAGIC_POSITION, "compressed, but without a value")
    data = wrapper.value
    if wrapper.magic == 0 and wrapper.compression is Compression.LZ4:
        data = _mend_lz4_header(data)
    plain = decompress(wrapper.compression, data, limit_bytes=limit_bytes)
    inner = list(_messages(memoryview(plain)))
    if not inner:
        raise MalformedError("message", MAGIC_POSITION, "compressed, but empty")
    first_offset = wrapper.offset - inner[-1].offset if wrapper.magic else 0
    is_stamped = wrapper.magic and wrapper.attributes & TIMESTAMP_TYPE_BIT
    for message in inner:
        if message.magic != wrapper.magic or message.compression is not Compression.NONE:
            raise MalformedError("message", MAGIC_POSITION, "wrapped in one of another kind")
        timestamp_ms = wrapper.timestamp_ms if is_stamped else message.timestamp_ms
        yield message.record(first_offset + message.offset, timestamp_ms)


def _messages(view: memoryview) -> Iterator[_Message]:
    position = 0
    while position < len(view):
        if position + _PREFIX.size > len(view):
            raise MalformedError("message set", position, "truncated")
        offset, size = _PREFIX.unpack_from(view, position)
        position += _PREFIX.size
        if not 0 <= size <= len(view) - position:
            raise MalformedError("message set", position, f"message of {size} bytes")
        yield _read_message(offset, bytes(view[position : position + size]))
        position += size


def _read_message(offset: int, data: bytes) -> _Message:
    try:
        crc, magic, attributes = _CRC_MAGIC_ATTRIBUTES.unpack_from(data)
        if magic not in (0, 1):
            raise MalformedError("message", MAGIC_POSITION, f"magic {magic} is neither 0 nor 1")
        if zlib.crc32(memoryview(data)[_CRC_BYTES:]) != crc:
            raise CorruptBatchError("message", 0, "its CRC-32 is not that of the bytes")
        position = _CRC_MAGIC_ATTRIBUTES.size
        timestamp_ms = NO_TIMESTAMP
        if magic == 1:
            (timestamp_ms,) = _INT64.unpack_from(data, position)
            position += _INT64.size
        key, position = _read_nullable(data, position)
        value, position = _read_nullable(data, position)
    except struct.error:
        raise MalformedError("message", len(data), "truncated") from None
    if position != len(data):
        raise MalformedError("message", position, "its fields do not fill it exactly")
    return _Message(offset, magic, attributes, timestamp_ms, key, value)


def _read_nullable(data: bytes, position: int) -> tuple[bytes | None, int]:
    (size,) = _INT32.unpack_from(data, position)
    position += _INT32.size
    if size == -1:
        return None, position
    if not 0 <= size <= len(data) - position:
        raise MalformedError("message", position, f"field of {size} bytes")
    return data[position : position + size], position + size


def _mend_lz4_header(data: bytes) -> bytes:
    """v0 producers hashed the frame's magic along with its descriptor (KIP-57): hash it anew."""
    if len(data) < 7 or not data.startswith(_LZ4_MAGIC):
        return data
    descriptor_end = 14 if data[4] & 0x08 else 6
    checksum = _xxh32_of_short(data[4:descriptor_end]) >> 8 & 0xFF
    return b"".join((data[:descriptor_end], bytes((checksum,)), data[descriptor_end + 1 :]))


def _xxh32_of_short(data: bytes) -> int:
    """XXH32 with seed 0 of fewer than 16 bytes."""
    mask = 0xFFFFFFFF
    state = (374761393 + len(data)) & mask
    words_end = len(data) // 4 * 4
    for start in range(0, words_end, 4):
        word = int.from_bytes(data[start : start + 4], "little")
        state = _rotate((state + word * 3266489917) & mask, 17) * 668265263 & mask
    for byte in data[words_end:]:
        state = _rotate((state + byte * 374761393) & mask, 11) * 2654435761 & mask
    state = (state ^ state >> 15) * 2246822519 & mask
    state = (state ^ state >> 13) * 3266489917 & mask
    return state ^ state >> 16


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & 0xFFFFFFFF
