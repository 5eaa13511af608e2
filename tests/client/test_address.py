"""Addresses as users write them."""

import pytest

from snakka.client.address import Address, parse_addresses


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:9093", Address("localhost", 9093)),
        (" localhost ", Address("localhost", 9092)),
        ("[::1]:9093", Address("::1", 9093)),
        ("::1", Address("::1", 9092)),
        ("[::1]", Address("::1", 9092)),
    ],
)
def test_an_address(text: str, address: Address) -> None:
    assert Address.parse(text) == address
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["", ":9092", "host:", "host:port", "host:0", "host:65536"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        Address.parse(text)


def test_several() -> None:
    assert parse_addresses("a:1,b:2,") == (Address("a", 1), Address("b", 2))
    assert parse_addresses(["a:1", "b:2"]) == (Address("a", 1), Address("b", 2))
    with pytest.raises(ValueError, match="no bootstrap server"):
        parse_addresses("")
