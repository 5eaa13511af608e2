"""Listeners, and what Kafka asks of them."""

import pytest

from snakka.config.endpoints import Endpoint, SecurityProtocol, endpoints
from tests.config.making import loaded, problems_of

CONTROLLER = "CONTROLLER://127.0.0.1:9093"


def test_listeners_of_a_standalone_node() -> None:
    found = endpoints(loaded())
    plaintext = Endpoint("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 9092)
    assert found.broker_listeners == (plaintext,)
    assert found.advertised_to_clients == (plaintext,)
    assert [str(each) for each in found.controller_listeners] == [CONTROLLER]
    assert found.inter_broker_name == "PLAINTEXT"


def test_named_listeners() -> None:
    found = endpoints(
        loaded(
            {
                "listeners": f"IN://[::1]:1,OUT://:2,{CONTROLLER}",
                "advertised.listeners": "in://inner:1,OUT://outer:80",
                "listener.security.protocol.map": "IN:PLAINTEXT,OUT:SASL_SSL,CONTROLLER:SSL",
                "inter.broker.listener.name": "IN",
            }
        )
    )
    assert [str(each) for each in found.advertised] == ["IN://inner:1", "OUT://outer:80"]
    assert [each.protocol.value for each in found.listeners] == ["PLAINTEXT", "SASL_SSL", "SSL"]
    assert found.inter_broker_name == "IN"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"listeners": f"PLAINTEXT://h,{CONTROLLER}"}, "is not of the form NAME://host:port"),
        ({"listeners": f"PLAINTEXT://h:65536,{CONTROLLER}"}, "is not between 0 and 65535"),
        ({"listeners": f"PLAINTEXT://h:9093,{CONTROLLER}"}, "have the same port 9093"),
        ({"listeners": f"PLAINTXT://h:1,{CONTROLLER}"}, "does not say what PLAINTXT speaks; did"),
        ({"listeners": f"SSL://h:1,{CONTROLLER}"}, "does not say what CONTROLLER speaks"),
        ({"listeners": f"PLAINTEXT://h:1,PLAINTEXT://h:2,{CONTROLLER}"}, "is there twice"),
        ({"listeners": f"PLAINTEXT://0.0.0.0:1,{CONTROLLER}"}, "0.0.0.0 cannot be connected to"),
        ({"listeners": "PLAINTEXT://h:1"}, "no listener is CONTROLLER"),
        ({"listeners": CONTROLLER}, "a broker must have a listener"),
        ({"advertised.listeners": "SSL://h:1"}, "no listener is SSL"),
        ({"inter.broker.listener.name": "SSL"}, "SSL is not advertised; it must be one of PLAIN"),
        ({"inter.broker.listener.name": "X"}, "does not say what X speaks"),
        ({"listener.security.protocol.map": "PLAINTEXT"}, "is not of the form NAME:PROTOCOL"),
        ({"listener.security.protocol.map": "A:SLL"}, "is not one of PLAINTEXT, SSL"),
        (
            {"process.roles": "broker", "controller.quorum.voters": "2@h:1"},
            "a broker that is no controller must not listen as CONTROLLER",
        ),
        ({"process.roles": "controller"}, "must not listen as PLAINTEXT"),
    ],
)
def test_what_cannot_be(changes: dict[str, str], reason: str) -> None:
    assert any(reason in problem for problem in problems_of(changes))


def test_one_port_for_ipv4_and_ipv6() -> None:
    listeners = f"PLAINTEXT://127.0.0.1:1,SSL://[::1]:1,{CONTROLLER}"
    protocols = "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"
    loaded({"listeners": listeners, "listener.security.protocol.map": protocols})
    assert problems_of({"listeners": listeners.replace("[::1]", "127.0.0.2")})
