"""Which partition of an internal topic holds a group or transactional id, as Kafka computes it."""

from typing import Final

_INT32_MIN: Final = -(1 << 31)


def partition_for(key: str, partition_count: int) -> int:
    """Java's hash code of the key, made positive, modulo the partitions."""
    hash_code = java_hash_code(key)
    # Java has no positive counterpart of its smallest integer; Kafka takes 0 for it.
    return (0 if hash_code == _INT32_MIN else abs(hash_code)) % partition_count


def java_hash_code(text: str) -> int:
    """What String.hashCode gives: over UTF-16 units, in 32 bits."""
    units = text.encode("utf-16-be", "surrogatepass")
    hash_code = 0
    for position in range(0, len(units), 2):
        unit = units[position] << 8 | units[position + 1]
        hash_code = (31 * hash_code + unit) & 0xFFFFFFFF
    return hash_code - (1 << 32) if hash_code >> 31 else hash_code
