"""Where records go, as Java's clients decide it."""

from itertools import pairwise
from random import Random

import pytest

from snakka.client.partitioner import StickyPartitioner, murmur2, partition_for_key
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


@pytest.mark.parametrize(
    ("data", "expected"),
    [  # of UtilsTest in Apache Kafka
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_of_java(data: bytes, expected: int) -> None:
    assert signed(murmur2(data)) == expected


def test_kafkas_own_partitioner_agrees() -> None:
    rng = Random(5)
    with JavaProgram(JAVA_SOURCES / "Partitioner.java") as java:
        for length in [*range(40), 1000]:
            key = rng.randbytes(length)
            count = rng.randint(1, 1000)
            assert java.ask(f"{key.hex()} {count}") == str(partition_for_key(key, count))


def test_records_without_a_key_stick_until_there_is_a_batch_of_them() -> None:
    partitioner = StickyPartitioner(100, Random(1))
    chosen = [partitioner.next("topic", range(4), 25) for _ in range(40)]
    runs = [chosen[start : start + 4] for start in range(0, 40, 4)]
    assert all(len(set(run)) == 1 for run in runs)
    assert all(run != after for run, after in pairwise(runs))
    assert set(chosen) == set(range(4))


def test_a_partition_that_lost_its_leader_is_left() -> None:
    partitioner = StickyPartitioner(1_000_000, Random(1))
    first = partitioner.next("topic", [0, 1], 1)
    assert partitioner.next("topic", [1 - first], 1) == 1 - first
    assert partitioner.next("topic", [1 - first], 1) == 1 - first
