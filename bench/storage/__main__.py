"""Storage against the raw limits of the same disk: `python -m bench.storage [directory]`.

Appends and reads of 16 KB batches against plain loops of the same system calls, durable appends one
by one and in groups, recovery of a flushed log of one size and of ten times that, opening many idle
partitions and what each costs in memory, and compaction of many keys in its memory.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from bench.storage.compacting import compaction, latency_beside_compaction
from bench.storage.durability import group_commit, recovery
from bench.storage.idle import idle_partitions
from bench.storage.throughput import appends, overhead_per_append, reads


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Storage against the raw limits of the same disk; takes about a minute.",
        epilog="Example: python -m bench.storage /var/tmp",
    )
    parser.add_argument("directory", nargs="?", help="on the disk to measure; needs 4 GB there")
    where = parser.parse_args().directory
    directory = Path(tempfile.mkdtemp(prefix="snakka-bench-", dir=where))
    try:
        overhead_per_append()
        appends(directory)
        reads(directory)
        group_commit(directory)
        recovery(directory)
        idle_partitions(directory)
        compaction(directory)
        latency_beside_compaction(directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
