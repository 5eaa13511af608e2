"""Which partition a record goes to, as Java's producer decides: by key, else by sticking to one.

A key goes where its murmur2 hash says, so that all clients agree. Records without a key go to one
partition until a batch's worth of bytes is there, then to another one (KIP-794), which makes fuller
batches than going around would. Brokers' queues are not weighed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from snakka.protocol.types import Buffer

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_R: Final = 24
_MASK: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF


def murmur2(data: Buffer) -> int:
    """The 32-bit hash of Java's clients."""
    length = len(data)
    h = _SEED ^ length
    whole = length & ~3
    for position in range(0, whole, 4):
        k = int.from_bytes(data[position : position + 4], "little") * _M & _MASK
        k = (k ^ k >> _R) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    if length > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15


def partition_for_key(key: Buffer, count: int) -> int:
    return (murmur2(key) & _POSITIVE) % count


@dataclass(slots=True)
class _Stuck:
    partition: int
    size_bytes: int


class StickyPartitioner:
    """Remembers, by topic, where records without a key go at present."""

    def __init__(self, batch_bytes: int, rng: Random) -> None:
        self._batch_bytes = batch_bytes
        self._rng = rng
        self._stuck: dict[str, _Stuck] = {}

    def next(self, topic: str, available: Sequence[int], size_bytes: int) -> int:
        """The partition for a record of this size; `available` are those that have a leader."""
        stuck = self._stuck.get(topic)
        if (
            stuck is None
            or stuck.size_bytes >= self._batch_bytes
            or stuck.partition not in available
        ):
            others = [each for each in available if stuck is None or each != stuck.partition]
            stuck = _Stuck(self._rng.choice(others or available), 0)
            self._stuck[topic] = stuck
        stuck.size_bytes += size_bytes
        return stuck.partition
