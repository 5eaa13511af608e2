"""What a log takes: whole, unaltered batches that their sender may send now.

Only headers are looked at here, the CRC of the bytes, and the record of a control batch.
Not here: rules about records (keys on compacted topics, timestamps).
"""

from enum import Enum, auto

from snakka.protocol.records.batch import (
    CONTROL_BIT,
    NO_PRODUCER_ID,
    PREFIX_BYTES,
    TRANSACTIONAL_BIT,
    Batch,
    BatchHeader,
    batches,
    verify_crc,
)
from snakka.protocol.records.control import EndTxnMarker
from snakka.protocol.types import Buffer
from snakka.storage.config import LogConfig
from snakka.storage.errors import (
    InvalidRecordError,
    RecordBatchTooLargeError,
    RecordTooLargeError,
    UnexpectedAppendOffsetError,
)
from snakka.storage.producer_state import BatchMetadata, ProducerState
from snakka.storage.scan import find_marker


class AppendOrigin(Enum):
    """Who appends on a leader."""

    CLIENT = auto()
    COORDINATOR = auto()  # markers, and records with the producer ids of others


def read_leader_batch(
    buffer: bytearray | memoryview, config: LogConfig, origin: AppendOrigin
) -> BatchHeader:
    """The header of the one batch that a leader appends at a time; raises what is wrong with it."""
    header = BatchHeader.read(buffer)
    size_bytes = header.batch_length + PREFIX_BYTES
    # A marker has to fit: without it the transaction would stay open for ever.
    is_marker = origin is AppendOrigin.COORDINATOR and header.attributes & CONTROL_BIT
    if size_bytes > config.max_message_bytes and not is_marker:
        raise RecordTooLargeError(
            f"a batch of {size_bytes} bytes is over max.message.bytes={config.max_message_bytes}"
        )
    if size_bytes != len(buffer):
        raise InvalidRecordError(f"{len(buffer)} bytes instead of one batch of {size_bytes}")
    verify_crc(header, memoryview(buffer))
    check_segment_size(size_bytes, config)
    if origin is AppendOrigin.CLIENT:
        _check_client_batch(header)
    return header


def admit_marker(
    header: BatchHeader,
    buffer: bytearray | memoryview,
    producers: ProducerState,
    transaction_version: int,
) -> EndTxnMarker | None:
    """What a control batch says of a transaction, if anything; raises if it may not (KIP-98)."""
    marker = find_marker(Batch(header, memoryview(buffer)))
    if marker is not None:
        producers.check_marker(header, marker, transaction_version)
    return marker


def find_duplicate(
    header: BatchHeader, producers: ProducerState, origin: AppendOrigin
) -> BatchMetadata | None:
    """The batch that this one repeats; raises if its producer may not send it now (KIP-98)."""
    if origin is AppendOrigin.CLIENT:
        duplicate = producers.find_duplicate(header)
        if duplicate is not None:
            return duplicate
    producers.check(header, has_sequence=origin is AppendOrigin.CLIENT)
    return None


def check_segment_size(size_bytes: int, config: LogConfig) -> None:
    if size_bytes > config.segment_bytes:
        raise RecordBatchTooLargeError(
            f"a batch of {size_bytes} bytes is over segment.bytes={config.segment_bytes}"
        )


def read_follower_batches(buffer: Buffer, next_offset: int) -> list[Batch]:
    """The batches fetched from a leader, the last of which may be cut short.

    A bad one refuses them all, so that it is fetched again and never spread.
    """
    found = []
    for batch in batches(buffer, ignore_partial_tail=True):
        if batch.header.base_offset < next_offset:
            raise UnexpectedAppendOffsetError(
                f"a fetched batch begins at {batch.header.base_offset}, "
                f"but {next_offset} is the next offset"
            )
        batch.verify_crc()
        next_offset = batch.header.next_offset
        found.append(batch)
    return found


def _check_client_batch(header: BatchHeader) -> None:
    if header.base_offset:
        raise InvalidRecordError(f"a client's batch begins at offset {header.base_offset}")
    if header.record_count != header.last_offset_delta + 1:
        raise InvalidRecordError(
            f"{header.record_count} records, but offsets up to {header.last_offset_delta}"
        )
    if header.attributes & CONTROL_BIT:
        raise InvalidRecordError("a client may not write control batches")
    if header.producer_id != NO_PRODUCER_ID:
        if header.producer_id < 0 or header.producer_epoch < 0 or header.base_sequence < 0:
            raise InvalidRecordError(
                f"producer {header.producer_id} with epoch {header.producer_epoch} "
                f"and sequence {header.base_sequence}"
            )
    elif header.attributes & TRANSACTIONAL_BIT:
        raise InvalidRecordError("a transactional batch without producer id")
