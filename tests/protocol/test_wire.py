"""Unsigned varints, the one primitive with a slow path of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.wire import UnreadableError, read_uvarint, uvarint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**32 - 1, "ffffffff0f")],
)
def test_known_varints(value: int, encoded: str) -> None:
    assert uvarint(value).hex() == encoded
    assert read_uvarint(bytes.fromhex("ee" + encoded), 1) == (value, 1 + len(encoded) // 2)


@given(st.integers(0, 2**32 - 1))
def test_varints_survive(value: int) -> None:
    assert read_uvarint(uvarint(value), 0) == (value, len(uvarint(value)))


@pytest.mark.parametrize("encoded", ["ffffffff1f", "ffffffffff01", "8080808080"])
def test_more_than_32_bits_are_refused(encoded: str) -> None:
    with pytest.raises(UnreadableError):
        read_uvarint(bytes.fromhex(encoded), 0)
