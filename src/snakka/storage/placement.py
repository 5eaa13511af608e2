"""Which log directories a new partition may go to: those with few come first (KIP-113). Pure.

Neither sizes nor speeds are looked at, and nothing is moved afterwards, as in Kafka.
"""

from collections.abc import Collection, Mapping


def rank_directories(counts: Mapping[str, int], cordoned: Collection[str] = ()) -> list[str]:
    """The directories in the order of their partitions, the earlier configured of equals first.

    Cordoned ones get none (KIP-1066), unless all are.
    """
    open_ones = [path for path in counts if path not in cordoned] or list(counts)
    return sorted(open_ones, key=lambda path: counts[path])
