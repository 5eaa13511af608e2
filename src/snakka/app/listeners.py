"""The sockets of a node, as its configuration wants them."""

import logging
import resource
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoint, SecurityProtocol
from snakka.net.connection import ConnectionSettings, Serve
from snakka.net.gate import UNLIMITED, ConnectionLimits, Gate
from snakka.net.listener import Listener
from snakka.protocol.inbox import BufferPool
from snakka.storage.open_files import OPEN_FILES_MAX

log = logging.getLogger(__name__)

SECURITY_PROTOCOLS: Final = {each: number for number, each in enumerate(SecurityProtocol)}
_REQUESTS_IN_FLIGHT_MAX: Final = 64
_DESCRIPTORS_FOR_FILES: Final = 2 * OPEN_FILES_MAX


def make_listener(config: BrokerConfig, endpoint: Endpoint) -> Listener:
    if not endpoint.is_loopback:
        log.warning("%s lets in whoever can reach it: nobody is asked who they are", endpoint)
    idle_ms_max = config.get_int("connections.max.idle.ms")
    return Listener(endpoint.host, endpoint.port, idle_ms_max=idle_ms_max)


def connection_settings(
    config: BrokerConfig, endpoint: Endpoint, gate: Gate, serve: Serve
) -> ConnectionSettings:
    return ConnectionSettings(
        listener=endpoint.listener,
        serve=serve,
        gate=gate,
        pool=BufferPool(),
        frame_bytes_max=config.get_int("socket.request.max.bytes"),
        requests_in_flight_max=_REQUESTS_IN_FLIGHT_MAX,
    )


def make_gate(config: BrokerConfig) -> Gate:
    """Counts the connections of all listeners that it is given to."""
    return Gate(connection_limits(config))


def connection_limits(config: BrokerConfig) -> ConnectionLimits:
    pairs = (each.rpartition(":") for each in _override_list(config))
    return ConnectionLimits(
        total_max=config.get_int("max.connections"),
        per_host_max=config.get_int("max.connections.per.ip"),
        per_host_overrides={host: int(limit) for host, _, limit in pairs},
        descriptor_max=_descriptor_max(),
    )


def _descriptor_max() -> int:
    """Of connections; the others are for files, but half of them at most."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return UNLIMITED
    return limit - min(_DESCRIPTORS_FOR_FILES, limit // 2)


def _override_list(config: BrokerConfig) -> list[str]:
    text = config.get_text("max.connections.per.ip.overrides")
    return [each.strip() for each in text.split(",") if each.strip()]
