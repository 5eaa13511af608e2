"""The settings of a broker that nobody has configured: one node that is a whole cluster.

Kafka's defaults want three brokers for the internal topics, and wait for more members of a group.
They come before all other sources, so that each can be overridden.
"""

from collections.abc import Iterator
from typing import Final

from snakka.config.sources import Setting

_SOURCE: Final = "the defaults of a single node"


def standalone_settings(
    host: str = "127.0.0.1", port: int = 9092, controller_port: int = 0
) -> Iterator[Setting]:
    """Clients connect to `host:port`; the controller is reached from this machine alone."""
    bare = host.strip("[]")
    shown = f"[{bare}]" if ":" in bare else bare
    texts = {
        "node.id": "1",
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://{shown}:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.replication.factor": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }
    for name, text in texts.items():
        yield Setting(name, text, _SOURCE)
