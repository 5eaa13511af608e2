"""Which log directory a new partition goes to: the one with the fewest (KIP-113). Pure.

Neither sizes nor speeds are looked at, and nothing is moved afterwards, as in Kafka.
"""

from collections.abc import Collection, Mapping


def choose_directory(counts: Mapping[str, int], cordoned: Collection[str] = ()) -> str:
    """The directory with the fewest partitions, the earlier configured of equals.

    Cordoned ones get none (KIP-1066), unless all are.
    """
    open_ones = [path for path in counts if path not in cordoned] or list(counts)
    return min(open_ones, key=lambda path: counts[path])
