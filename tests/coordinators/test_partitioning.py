"""The partition of a group is the one that Java computes."""

import pytest

from snakka.coordinators.partitioning import java_hash_code, partition_for


@pytest.mark.parametrize(
    ("text", "hash_code"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(1 << 31)),
        ("\u00e9", 233),
        ("\U0001f40d", 31 * 0xD83D + 0xDC0D),
    ],
)
def test_java_hash_code(text: str, hash_code: int) -> None:
    assert java_hash_code(text) == hash_code


def test_the_smallest_integer_has_no_absolute_value() -> None:
    assert partition_for("polygenelubricants", 50) == 0


def test_partition_of_a_negative_hash_code() -> None:
    hash_code = java_hash_code("consumers")
    assert partition_for("consumers", 50) == abs(hash_code) % 50
