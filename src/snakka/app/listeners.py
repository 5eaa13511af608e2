"""The sockets of a node, as its configuration wants them."""

from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoint
from snakka.net.connection import ConnectionSettings, Serve
from snakka.net.gate import ConnectionLimits, Gate
from snakka.net.listener import Listener
from snakka.node.dynamic_config import DynamicConfig
from snakka.protocol.inbox import BufferPool

_REQUESTS_IN_FLIGHT_MAX: Final = 64


def make_listener(dynamic: DynamicConfig, endpoint: Endpoint, serve: Serve) -> Listener:
    config = dynamic.current
    gate = Gate(_connection_limits(config))
    dynamic.follow(lambda changed: gate.reconfigure(_connection_limits(changed)))
    connections = ConnectionSettings(
        listener=endpoint.listener,
        serve=serve,
        gate=gate,
        pool=BufferPool(),
        frame_bytes_max=config.get_int("socket.request.max.bytes"),
        requests_in_flight_max=_REQUESTS_IN_FLIGHT_MAX,
    )
    return Listener(
        endpoint.host,
        endpoint.port,
        connections,
        idle_ms_max=config.get_int("connections.max.idle.ms"),
    )


def _connection_limits(config: BrokerConfig) -> ConnectionLimits:
    pairs = (each.rpartition(":") for each in _override_list(config))
    return ConnectionLimits(
        total_max=config.get_int("max.connections"),
        per_host_max=config.get_int("max.connections.per.ip"),
        per_host_overrides={host: int(limit) for host, _, limit in pairs},
    )


def _override_list(config: BrokerConfig) -> list[str]:
    text = config.get_text("max.connections.per.ip.overrides")
    return [each.strip() for each in text.split(",") if each.strip()]
