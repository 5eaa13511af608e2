"""A node that nobody configured is a whole cluster."""

import pytest

from snakka.config.endpoints import endpoints
from snakka.config.loading import load_broker_config
from snakka.config.sources import Setting
from snakka.config.standalone import standalone_settings


def test_it_needs_no_other_node() -> None:
    config = load_broker_config(standalone_settings())
    replicated = [name for name in config.values if name.endswith("replication.factor")]
    assert {config.get_int(name) for name in replicated} == {1}
    assert {config.get_int(name) for name in config.values if name.endswith("min.isr")} == {1}
    assert [str(each) for each in endpoints(config).advertised_to_clients] == [
        "PLAINTEXT://127.0.0.1:9092"
    ]


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_an_ipv6_host(host: str) -> None:
    config = load_broker_config(standalone_settings(host, 0))
    (listener,) = endpoints(config).broker_listeners
    assert (listener.host, listener.port) == ("::1", 0)


def test_everything_can_be_overridden() -> None:
    settings = [*standalone_settings(), Setting("node.id", "7", "--set")]
    assert load_broker_config(settings).node_id == 7
