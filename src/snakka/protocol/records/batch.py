"""Record batches of format v2 (magic 2, KIP-98): the 61-byte header, and batches in a row.

A batch is opaque bytes here: nothing walks its records unless asked. The CRC covers everything from
the attributes on, so base offset and leader epoch are patched in place without touching it.

Not here: the records themselves (record.py), writing (builder.py), magic 0 and 1 (legacy.py).
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.compression import DEFAULT_LIMIT_BYTES, Compression, decompress
from snakka.protocol.records.crc import crc32c
from snakka.protocol.records.record import Record, decode_records
from snakka.protocol.types import Buffer

HEADER_BYTES: Final = 61
MAGIC: Final = 2
MAGIC_POSITION: Final = 16  # the same in every format
PREFIX_BYTES: Final = 12  # base offset and length: what `batch_length` does not count

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_LEADER_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1

COMPRESSION_MASK: Final = 0x07
TIMESTAMP_TYPE_BIT: Final = 0x08
TRANSACTIONAL_BIT: Final = 0x10
CONTROL_BIT: Final = 0x20
DELETE_HORIZON_BIT: Final = 0x40

_RECORD_BYTES_MIN: Final = 7
_CRC_START: Final = 21
_LOW_ATTRIBUTES_POSITION: Final = 22
_INT64_MAX: Final = (1 << 63) - 1

_HEADER = struct.Struct(">qiibIhiqqqhii")
_PREFIX = struct.Struct(">qi")
_INT64 = struct.Struct(">q")
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct(">I")
_INT16 = struct.Struct(">h")
_PRODUCER = struct.Struct(">qhi")
_LEADER_EPOCH_POSITION: Final = 12
_CRC_POSITION: Final = 17
_MAX_TIMESTAMP_POSITION: Final = 35
_PRODUCER_POSITION: Final = 43
_COUNT_POSITION: Final = 57


def is_transactional(buffer: Buffer) -> bool:
    """Whether a batch is part of a transaction, at the cost of one byte."""
    position = _LOW_ATTRIBUTES_POSITION
    return len(buffer) > position and bool(buffer[position] & TRANSACTIONAL_BIT)


class TimestampType(IntEnum):
    """Who stamped the records: the producer, or the broker for the whole batch at once."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class CorruptBatchError(MalformedError):
    """The bytes are laid out as a batch, but their checksum says that they changed."""


class BatchHeader(NamedTuple):
    """The fixed part of a batch, in wire order."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @classmethod
    def read(cls, buffer: Buffer, position: int = 0) -> "BatchHeader":
        """The header at `position`; the batch itself may reach beyond the buffer."""
        if not 0 <= position <= len(buffer) - HEADER_BYTES:
            raise MalformedError("record batch", position, "truncated header")
        header = tuple.__new__(cls, _HEADER.unpack_from(buffer, position))
        base_offset, length, _, magic, _, _, delta, _, _, _, _, _, count = header
        if magic != MAGIC:
            raise MalformedError("record batch", position, f"magic {magic} is not {MAGIC}")
        if length < HEADER_BYTES - PREFIX_BYTES:
            raise MalformedError("record batch", position, f"length {length}")
        if delta < 0 or count < 0 or base_offset + delta > _INT64_MAX:
            raise MalformedError("record batch", position, "impossible offsets or count")
        return header

    def placed(self, base_offset: int, leader_epoch: int) -> "BatchHeader":
        """As `assign_offset` leaves it, without reading it again."""
        return tuple.__new__(BatchHeader, (base_offset, self[1], leader_epoch, *self[3:]))

    @property
    def size_bytes(self) -> int:
        return self.batch_length + PREFIX_BYTES

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def compression(self) -> Compression:
        codec = self.attributes & COMPRESSION_MASK
        if codec > Compression.ZSTD:
            raise MalformedError("record batch", _CRC_START, f"unknown compression {codec}")
        return Compression(codec)

    @property
    def timestamp_type(self) -> TimestampType:
        if self.attributes & TIMESTAMP_TYPE_BIT:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def log_append_time(self) -> int | None:
        """The one timestamp of all records, or None where each carries its own."""
        return self.max_timestamp if self.attributes & TIMESTAMP_TYPE_BIT else None

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether `base_timestamp` is when tombstones and markers may go (KIP-534)."""
        return bool(self.attributes & DELETE_HORIZON_BIT)


class Batch(NamedTuple):
    """One batch where it lies: a view of the caller's buffer, never a copy of it."""

    header: BatchHeader
    data: memoryview

    def verify_crc(self) -> None:
        verify_crc(self.header, self.data)

    def section(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> Buffer:
        """The records' bytes, decompressed."""
        header = self.header
        plain = decompress(header.compression, self.data[HEADER_BYTES:], limit_bytes=limit_bytes)
        if header.record_count > len(plain) // _RECORD_BYTES_MIN:
            raise MalformedError(
                "record batch",
                _COUNT_POSITION,
                f"{header.record_count} records in {len(plain)} bytes",
            )
        return plain

    def records(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> Iterator[Record]:
        header = self.header
        return decode_records(
            self.section(limit_bytes),
            count=header.record_count,
            base_offset=header.base_offset,
            last_offset_delta=header.last_offset_delta,
            base_timestamp=header.base_timestamp,
            log_append_time=header.log_append_time,
        )


def verify_crc(header: BatchHeader, data: memoryview) -> None:
    """Raises if `data`, the whole batch of `header`, is not what its sender wrote."""
    computed = crc32c(data[_CRC_START:])
    if computed != header.crc:
        raise CorruptBatchError(
            "record batch",
            _CRC_POSITION,
            f"CRC32C {computed:#010x} of the bytes is not the recorded {header.crc:#010x}",
        )


def batches(buffer: Buffer, *, ignore_partial_tail: bool = False) -> Iterator[Batch]:
    """The batches of a buffer in a row.

    A Fetch response may end in the middle of a batch, which `ignore_partial_tail` passes over;
    anywhere else an incomplete batch is an error.
    """
    view = memoryview(buffer)
    end = len(view)
    position = 0
    while position < end:
        left = end - position
        if ignore_partial_tail and (left < HEADER_BYTES or _size_at(view, position) > left):
            return
        header = BatchHeader.read(view, position)
        size = header.size_bytes
        if size > left:
            raise MalformedError("record batch", position, f"{size} bytes, but {left} are left")
        yield Batch(header, view[position : position + size])
        position += size


def _size_at(view: memoryview, position: int) -> int:
    size: int = _PREFIX.unpack_from(view, position)[1]
    return size + PREFIX_BYTES


def assign_offset(
    buffer: bytearray | memoryview, base_offset: int, leader_epoch: int, position: int = 0
) -> None:
    """Gives the batch at `position` its place in the log; its CRC stays valid."""
    _INT64.pack_into(buffer, position, base_offset)
    _INT32.pack_into(buffer, position + _LEADER_EPOCH_POSITION, leader_epoch)


def assign_producer(
    buffer: bytearray, producer_id: int, producer_epoch: int, base_sequence: int
) -> None:
    """Makes the batch that fills `buffer` part of a producer's transaction; renews its CRC."""
    attributes = _INT16.unpack_from(buffer, _CRC_START)[0] | TRANSACTIONAL_BIT
    _INT16.pack_into(buffer, _CRC_START, attributes)
    _PRODUCER.pack_into(buffer, _PRODUCER_POSITION, producer_id, producer_epoch, base_sequence)
    with memoryview(buffer) as view:
        crc = crc32c(view[_CRC_START:])
    _UINT32.pack_into(buffer, _CRC_POSITION, crc)


def set_max_timestamp(
    buffer: bytearray | memoryview,
    timestamp_type: TimestampType,
    max_timestamp: int,
    position: int = 0,
) -> None:
    """Stamps the batch at `position` and renews its CRC, which covers both fields."""
    header = BatchHeader.read(buffer, position)
    end = position + header.size_bytes
    if end > len(buffer):
        raise MalformedError("record batch", position, "longer than the buffer")
    attributes = header.attributes & ~TIMESTAMP_TYPE_BIT
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        attributes |= TIMESTAMP_TYPE_BIT
    _INT16.pack_into(buffer, position + _CRC_START, attributes)
    _INT64.pack_into(buffer, position + _MAX_TIMESTAMP_POSITION, max_timestamp)
    with memoryview(buffer) as view:
        crc = crc32c(view[position + _CRC_START : end])
    _UINT32.pack_into(buffer, position + _CRC_POSITION, crc)


def seal(header: BatchHeader, section: Buffer) -> bytes:
    """A whole batch of `header` and its (compressed) records; length and CRC are computed."""
    length = HEADER_BYTES - PREFIX_BYTES + len(section)
    packed = bytearray(_HEADER.pack(*header._replace(batch_length=length, crc=0)))
    packed += section
    _UINT32.pack_into(packed, _CRC_POSITION, crc32c(memoryview(packed)[_CRC_START:]))
    return bytes(packed)
