"""The last offset of every key, in a fixed amount of memory.

A slot is 16 bytes: 64 bits of a hash of the key, and the offset. A second hash chooses where to
look, so a wrong answer takes two keys that agree in the first and meet in the few slots that are
looked at: about one in 10^12 passes over ten million records. Both are Python's keyed SipHash, as
Kafka's MD5 is, out of reach for whoever chooses the keys.
"""

from collections.abc import Iterable
from typing import Final

from snakka.protocol.records.column_buffers import KeySpan

SLOT_BYTES: Final = 16
NO_OFFSET: Final = -1

_TAG_MASK: Final = (1 << 64) - 1


class OffsetMap:
    """Takes keys until `load_factor` of its slots are used. Offsets of a key must rise."""

    __slots__ = ("_capacity", "_mask", "_slots", "latest_offset", "size")

    def __init__(self, memory_bytes: int, load_factor: float) -> None:
        slot_count = 1 << (memory_bytes // SLOT_BYTES).bit_length() - 1
        self._mask = slot_count - 1
        self._capacity = min(int(slot_count * load_factor), slot_count - 1)
        if self._capacity < 1:
            raise ValueError(f"{memory_bytes} bytes hold no keys")
        self._slots = memoryview(bytearray(slot_count * SLOT_BYTES)).cast("Q")
        self.size = 0
        self.latest_offset = NO_OFFSET  # everything up to it has been taken in

    def put_all(self, records: Iterable[KeySpan], start_offset: int) -> bool:
        """Takes in the keyed records from `start_offset` on; False once it is full."""
        slots, mask = self._slots, self._mask
        for offset, _, key, _, _, _ in records:
            if key is None or offset < start_offset:
                continue
            tag, probe = hash(key) & _TAG_MASK, hash(key + b"\0")
            step = probe >> 32 | 1
            at = (probe & mask) << 1
            while slots[at + 1] and slots[at] != tag:
                probe += step
                at = (probe & mask) << 1
            if not slots[at + 1]:
                if self.size >= self._capacity:
                    return False
                self.size += 1
                slots[at] = tag
            slots[at + 1] = offset + 1  # 0 is an unused slot
        return True

    def find(self, key: bytes) -> int:
        """The last offset of `key`, or NO_OFFSET."""
        slots, mask = self._slots, self._mask
        tag, probe = hash(key) & _TAG_MASK, hash(key + b"\0")
        step = probe >> 32 | 1
        at = (probe & mask) << 1
        while slots[at + 1]:
            if slots[at] == tag:
                return slots[at + 1] - 1
            probe += step
            at = (probe & mask) << 1
        return NO_OFFSET
