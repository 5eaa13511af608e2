"""What a node says of the listeners that it opens."""

import logging

import pytest

from snakka.app.listeners import make_listener
from snakka.config.endpoints import endpoints
from tests.config.making import loaded


@pytest.mark.parametrize(
    ("host", "is_told"),
    [
        ("127.0.0.1", False),
        ("127.7.7.7", False),
        ("[::1]", False),
        ("localhost", False),
        ("", True),
        ("0.0.0.0", True),
        ("[::]", True),
        ("10.1.2.3", True),
        ("kafka.example", True),
    ],
)
def test_a_listener_that_others_can_reach_is_told_of(  # pitfall 43
    host: str, is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    listening = f"PLAINTEXT://{host}:9092"
    config = loaded(
        {
            "listeners": f"{listening},CONTROLLER://127.0.0.1:9093",
            "advertised.listeners": "PLAINTEXT://localhost:9092",
        }
    )
    with caplog.at_level(logging.WARNING):
        make_listener(config, endpoints(config).listeners[0])
    told = [f"{listening} lets in whoever can reach it: nobody is asked who they are"]
    assert caplog.messages == (told if is_told else [])
