"""What compaction leaves of a batch: all of it, some records, an empty batch, or nothing. Pure.

A record goes when a later one has its key; a tombstone as well, once its delete horizon has passed.
The first pass that meets a tombstone or an idle marker sets the horizon of its batch (KIP-534): the
batch's base timestamp is then the time from which on they may go, and readers that began before had
`delete.retention.ms` to see them. Records without a key have no place in a compacted log and go.

Records that stay are copied as they are; Java stamps a thinned batch's first record anew, which
says the same in other bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from snakka.protocol.records.batch import (
    DELETE_HORIZON_BIT,
    NO_PRODUCER_ID,
    Batch,
    BatchHeader,
    seal,
)
from snakka.protocol.records.builder import build_empty_batch
from snakka.protocol.records.column_buffers import KeySpan
from snakka.protocol.records.columns import scan_keys
from snakka.protocol.records.compression import compress
from snakka.protocol.records.record import append_varint, read_varint, read_varlong
from snakka.protocol.types import Buffer
from snakka.storage.compaction.offset_map import OffsetMap
from snakka.storage.compaction.transactions import CleanedTransactions


class LastBatch(NamedTuple):
    """Where an active producer's last records are; `offset` is None if it has a marker only."""

    offset: int | None
    producer_epoch: int

    def is_in(self, header: BatchHeader) -> bool:
        """Whether this is the batch that says where the producer goes on."""
        if self.offset is not None:
            return header.last_offset == self.offset
        return header.is_control and header.producer_epoch == self.producer_epoch


@dataclass(frozen=True, slots=True)
class Horizon:
    """When a pass takes place, and from when on what it marks may go."""

    now_ms: int
    delete_retention_ms: int

    def has_passed(self, header: BatchHeader) -> bool:
        return header.has_delete_horizon and header.base_timestamp <= self.now_ms


@dataclass(slots=True)
class BatchFilter:
    """The rules of one pass over a log. Batches come in log order."""

    offset_map: OffsetMap
    transactions: CleanedTransactions
    last_batches: Mapping[int, LastBatch]  # by producer
    end_offset: int  # of the pass: its last batch stays, so that the offsets up to there do
    horizon: Horizon

    def retain(self, batch: Batch) -> Buffer | None:
        """The bytes that stay of `batch`."""
        header = batch.header
        is_idle_marker = False
        if header.is_control:
            is_idle_marker = self.transactions.is_idle(batch)
            is_dropped = is_idle_marker and self.horizon.has_passed(header)
        else:
            is_dropped = self.transactions.is_aborted(header)
        if not is_dropped and header.record_count:
            retained = self._retain_records(batch, is_idle_marker=is_idle_marker)
            if retained is not None:
                return retained
        return build_empty_batch(header) if self._must_stay(header) else None

    def _retain_records(self, batch: Batch, *, is_idle_marker: bool) -> Buffer | None:
        header = batch.header
        section = batch.section()
        spans = scan_keys(header, section)
        kept = spans if header.is_control else self._last_of_their_keys(header, spans)
        if not kept:
            return None
        needs_horizon = not header.has_delete_horizon and (
            is_idle_marker or any(span.is_tombstone for span in kept)
        )
        if needs_horizon:
            horizon_ms = self.horizon.now_ms + self.horizon.delete_retention_ms
            return _with_horizon(header, section, kept, horizon_ms)
        if len(kept) == len(spans):
            return bytes(batch.data)
        return _rebuild(header, kept, b"".join([section[span.start : span.end] for span in kept]))

    def _last_of_their_keys(self, header: BatchHeader, spans: list[KeySpan]) -> list[KeySpan]:
        find, latest_offset = self.offset_map.find, self.offset_map.latest_offset
        keeps_tombstones = not self.horizon.has_passed(header)
        return [
            span
            for span in spans
            if span.offset > latest_offset
            or (
                span.key is not None
                and span.offset >= find(span.key)
                and (keeps_tombstones or not span.is_tombstone)
            )
        ]

    def _must_stay(self, header: BatchHeader) -> bool:
        if header.next_offset == self.end_offset:
            return True
        last = self.last_batches.get(header.producer_id)
        return header.producer_id != NO_PRODUCER_ID and last is not None and last.is_in(header)


def scan_records(batch: Batch) -> list[KeySpan]:
    return scan_keys(batch.header, batch.section()) if batch.header.record_count else []


def _with_horizon(
    header: BatchHeader, section: Buffer, kept: list[KeySpan], horizon_ms: int
) -> bytes:
    stamped = bytearray()
    data = bytes(section)
    for span in kept:
        _append_restamped(stamped, data, span, horizon_ms)
    marked = header._replace(
        attributes=header.attributes | DELETE_HORIZON_BIT, base_timestamp=horizon_ms
    )
    return _rebuild(marked, kept, stamped)


def _append_restamped(out: bytearray, data: bytes, span: KeySpan, base_timestamp: int) -> None:
    """Appends the record at `span` with its timestamp counted from `base_timestamp`."""
    _, attributes_at = read_varint(data, span.start)
    _, rest_at = read_varlong(data, attributes_at + 1)
    body = bytearray(data[attributes_at : attributes_at + 1])
    append_varint(body, span.timestamp_ms - base_timestamp)
    body += data[rest_at : span.end]
    append_varint(out, len(body))
    out += body


def _rebuild(header: BatchHeader, kept: list[KeySpan], section: Buffer) -> bytes:
    """A batch of fewer or restamped records. Its offsets stay, and with them its sequences."""
    max_timestamp = header.log_append_time
    if max_timestamp is None:
        max_timestamp = max(span.timestamp_ms for span in kept)
    rebuilt = header._replace(max_timestamp=max_timestamp, record_count=len(kept))
    return seal(rebuilt, compress(header.compression, section))
