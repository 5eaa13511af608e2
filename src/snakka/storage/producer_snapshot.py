"""Producer snapshots: `ProducerState` at an offset, in the layout of Kafka's ProducerSnapshot v1.

Of a producer's batches only the last one is kept. The CRC32C covers what follows it.
"""

import struct
from collections.abc import Iterable
from typing import Final

from snakka.protocol.records.crc import crc32c
from snakka.storage.errors import CorruptFileError
from snakka.storage.producer_state import BatchMetadata, ProducerEntry

_VERSION: Final = 1
_HEADER: Final = struct.Struct(">hI")  # version, CRC
_COUNT: Final = struct.Struct(">i")
_ENTRY: Final = struct.Struct(">qhiqiqiq")
_NONE: Final = -1
_NO_BATCH: Final = BatchMetadata(last_sequence=-1, last_offset=-1, offset_delta=0, timestamp=-1)


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    packed = [_pack(entry) for entry in entries]
    body = _COUNT.pack(len(packed)) + b"".join(packed)
    return _HEADER.pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes, path: str) -> list[ProducerEntry]:
    """The entries of a snapshot read from `path`."""
    if len(data) < _HEADER.size + _COUNT.size:
        raise CorruptFileError(path, f"{len(data)} bytes are too few")
    version, crc = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise CorruptFileError(path, f"version {version}")
    body = data[_HEADER.size :]
    if crc32c(body) != crc:
        raise CorruptFileError(path, "its CRC is not that of its content")
    (count,) = _COUNT.unpack_from(body)
    if len(body) != _COUNT.size + count * _ENTRY.size:
        raise CorruptFileError(path, f"{count} producers in {len(data)} bytes")
    return [_unpack(fields) for fields in _ENTRY.iter_unpack(body[_COUNT.size :])]


def _pack(entry: ProducerEntry) -> bytes:
    last = entry.batches[-1] if entry.batches else _NO_BATCH
    first_offset = entry.current_txn_first_offset
    return _ENTRY.pack(
        entry.producer_id,
        entry.producer_epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        _NONE if first_offset is None else first_offset,
    )


def _unpack(fields: tuple[int, ...]) -> ProducerEntry:
    producer_id, epoch, last_sequence, last_offset, delta, timestamp, coordinator, txn = fields
    batch = BatchMetadata(last_sequence, last_offset, delta, timestamp)
    return ProducerEntry(
        producer_id=producer_id,
        producer_epoch=epoch,
        coordinator_epoch=coordinator,
        last_timestamp=timestamp,
        current_txn_first_offset=txn if txn >= 0 else None,
        batches=(batch,) if last_offset >= 0 else (),
    )
