"""The producer state that a log keeps in its `.snapshot` files."""

from snakka.protocol.schema import Message, Struct
from snakka.protocol.types import Int16, Int32, Int64, UInt32


class ProducerEntry(Struct):
    producer_id: Int64
    epoch: Int16
    last_sequence: Int32
    last_offset: Int64
    offset_delta: Int32
    timestamp: Int64
    coordinator_epoch: Int32
    current_txn_first_offset: Int64


class ProducerSnapshot(Message, versions="1"):
    crc: UInt32
    producer_entries: list[ProducerEntry]
