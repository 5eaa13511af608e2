"""Listeners: where the node listens, what it advertises, and what is spoken there.

Not here: sockets. Port 0 asks for any free port, which is advertised once it is known.
"""

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.problems import nearest

PORT_MAX: Final = 65535
_LISTENER: Final = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,9})")
_NOT_ROUTABLE: Final = ("0.0.0.0", "::", "0:0:0:0:0:0:0:0")


class SecurityProtocol(StrEnum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"


@dataclass(frozen=True, slots=True)
class Endpoint:
    listener: str
    protocol: SecurityProtocol
    host: str  # empty: all addresses of the machine
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """All listeners of a node; those of controllers are told apart by their names."""

    listeners: tuple[Endpoint, ...]
    advertised: tuple[Endpoint, ...]
    controller_names: tuple[str, ...]
    inter_broker_name: str

    @property
    def broker_listeners(self) -> tuple[Endpoint, ...]:
        return tuple(each for each in self.listeners if each.listener not in self.controller_names)

    @property
    def controller_listeners(self) -> tuple[Endpoint, ...]:
        return tuple(each for each in self.listeners if each.listener in self.controller_names)

    @property
    def advertised_to_clients(self) -> tuple[Endpoint, ...]:
        return tuple(each for each in self.advertised if each.listener not in self.controller_names)

    @property
    def advertised_to_nodes(self) -> tuple[Endpoint, ...]:
        """Where controllers are reached: as advertised, or as they listen (KIP-853)."""
        advertised = {each.listener: each for each in self.advertised}
        by_name = {each.listener: each for each in self.controller_listeners}
        return tuple(
            advertised.get(name, by_name[name]) for name in self.controller_names if name in by_name
        )


class InvalidEndpointError(ValueError):
    """Says what is wrong with which key."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


def endpoints(config: BrokerConfig) -> Endpoints:
    """The listeners as they are configured; raises InvalidEndpointError."""
    protocols = security_protocols(config)
    listeners = _parsed("listeners", config.get_list("listeners"), protocols)
    _check_ports(listeners)
    given = config.find_list("advertised.listeners")
    advertised = listeners
    if given is not None:
        advertised = _parsed("advertised.listeners", given, protocols)
    return Endpoints(
        listeners,
        advertised,
        config.find_list("controller.listener.names") or (),
        _inter_broker_name(config, protocols),
    )


def security_protocols(config: BrokerConfig) -> Mapping[str, SecurityProtocol]:
    """`listener.security.protocol.map`, by the names of listeners.

    Where it is not given, controllers' listeners speak PLAINTEXT, but only while no listener is
    named after a safer protocol (KIP-798).
    """
    name = "listener.security.protocol.map"
    protocols = {}
    for pair in filter(None, re.split(r"\s*,\s*", config.get_text(name))):
        listener, colon, protocol = pair.rpartition(":")
        if not colon:
            raise InvalidEndpointError(name, f"{pair!r} is not of the form NAME:PROTOCOL")
        protocols[listener.strip().upper()] = _protocol(protocol.strip(), name)
    controllers = config.find_list("controller.listener.names") or ()
    named = {each.partition("://")[0].upper() for each in config.get_list("listeners")}
    safer = {"SSL", "SASL_PLAINTEXT", "SASL_SSL"}
    if not config.is_given(name) and not safer & (named | set(controllers)):
        protocols |= dict.fromkeys(controllers, SecurityProtocol.PLAINTEXT)
    return protocols


def _protocol(text: str, name: str) -> SecurityProtocol:
    try:
        return SecurityProtocol(text.upper())
    except ValueError:
        options = ", ".join(SecurityProtocol)
        near = nearest(text, SecurityProtocol)
        raise InvalidEndpointError(name, f"{text!r} is not one of {options}{near}") from None


def _parsed(
    name: str, texts: Iterable[str], protocols: Mapping[str, SecurityProtocol]
) -> tuple[Endpoint, ...]:
    found: dict[str, Endpoint] = {}
    for text in texts:
        endpoint = _endpoint(name, text, protocols)
        if endpoint.listener in found:
            raise InvalidEndpointError(name, f"the listener {endpoint.listener} is there twice")
        found[endpoint.listener] = endpoint
    return tuple(found.values())


def _endpoint(name: str, text: str, protocols: Mapping[str, SecurityProtocol]) -> Endpoint:
    matched = _LISTENER.fullmatch(text)
    if matched is None:
        raise InvalidEndpointError(name, f"{text!r} is not of the form NAME://host:port")
    listener, host, port = matched[1].upper(), matched[2], int(matched[3])
    if not 0 <= port <= PORT_MAX:
        raise InvalidEndpointError(name, f"the port of {text!r} is not between 0 and {PORT_MAX}")
    if listener not in protocols:
        near = nearest(listener, protocols)
        reason = f"listener.security.protocol.map does not say what {listener} speaks{near}"
        raise InvalidEndpointError(name, reason)
    return Endpoint(listener, protocols[listener], host, port)


def _check_ports(listeners: Iterable[Endpoint]) -> None:
    """A port is of one listener, or of two where one has an IPv4 and one an IPv6 address."""
    by_port: dict[int, list[Endpoint]] = defaultdict(list)
    for endpoint in listeners:
        if endpoint.port:
            by_port[endpoint.port].append(endpoint)
    for port, sharing in by_port.items():
        if len(sharing) > 1 and {_ip_version(each.host) for each in sharing} != {4, 6}:
            names = " and ".join(each.listener for each in sharing)
            raise InvalidEndpointError("listeners", f"{names} have the same port {port}")
        if len(sharing) > 2:
            raise InvalidEndpointError("listeners", f"more than two listeners have the port {port}")


def _ip_version(host: str) -> int | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).version
    except ValueError:
        return None


def _inter_broker_name(config: BrokerConfig, protocols: Mapping[str, SecurityProtocol]) -> str:
    name = "inter.broker.listener.name"
    listener = config.find_text(name)
    if listener is None:
        return config.get_text("security.inter.broker.protocol")
    if config.is_given("security.inter.broker.protocol"):
        raise InvalidEndpointError(name, "give this or security.inter.broker.protocol, not both")
    if listener.upper() not in protocols:
        near = nearest(listener, protocols)
        raise InvalidEndpointError(
            name, f"listener.security.protocol.map does not say what {listener} speaks{near}"
        )
    return listener.upper()


def is_routable(endpoint: Endpoint) -> bool:
    """Whether a client could connect to what the endpoint names."""
    return endpoint.host not in _NOT_ROUTABLE
