"""How many may connect, and that one address has one count however it is written."""

import pytest

from snakka.net.gate import ConnectionLimits, Gate, canonical_host


def test_no_more_than_the_total() -> None:
    gate = Gate(ConnectionLimits(total_max=2))
    assert gate.admit("10.0.0.1") is None
    assert gate.admit("10.0.0.2") is None
    assert gate.admit("10.0.0.3") == "max.connections=2 is reached"
    gate.leave("10.0.0.1")
    assert gate.admit("10.0.0.3") is None
    assert gate.total == 2


def test_ipv6_does_not_get_around_the_limit_of_an_address() -> None:  # pitfall 39
    gate = Gate(ConnectionLimits(per_host_max=1))
    assert gate.admit("10.0.0.1") is None
    assert gate.admit("::ffff:10.0.0.1") == "max.connections.per.ip=1 is reached for 10.0.0.1"
    assert gate.admit("2001:db8::1") is None
    assert gate.admit("2001:0db8:0:0::1") is not None
    gate.leave("::ffff:a00:1")
    assert gate.admit("10.0.0.1") is None


def test_an_override_goes_before_the_rule() -> None:
    gate = Gate(ConnectionLimits(per_host_max=0, per_host_overrides={"::ffff:10.0.0.1": 2}))
    assert [gate.admit("10.0.0.1") is None for _ in range(3)] == [True, True, False]
    assert gate.admit("10.0.0.2") is not None


def test_other_limits_are_for_those_who_come() -> None:
    gate = Gate(ConnectionLimits(total_max=2))
    assert [gate.admit("10.0.0.1") for _ in range(2)] == [None, None]
    gate.reconfigure(ConnectionLimits(total_max=1, per_host_overrides={"10.0.0.2": 5}))
    gate.leave("10.0.0.1")
    assert gate.admit("10.0.0.2") is not None
    gate.leave("10.0.0.1")
    assert gate.admit("10.0.0.2") is None


@pytest.mark.parametrize(
    ("host", "canonical"),
    [("fe80::1%eth0", "fe80::1"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1")],
)
def test_spellings(host: str, canonical: str) -> None:
    assert canonical_host(host) == canonical


def test_descriptors_are_left_for_files() -> None:
    gate = Gate(ConnectionLimits(descriptor_max=100))
    assert gate.admit("10.0.0.1", descriptor=100) is None
    assert gate.admit("10.0.0.1", descriptor=101) is not None
    assert gate.total == 1
