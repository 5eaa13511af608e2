"""How many may connect: `max.connections`, `max.connections.per.ip` and its overrides.

Some file descriptors of the process stay free of connections, for the files of its logs: the number
of a new one tells how many are taken, since the system gives the lowest.

An address is counted as what it is: an IPv4 client of an IPv6 socket as its IPv4 address.
"""

import ipaddress
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

UNLIMITED: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Kafka's limits of connections of one broker or listener."""

    total_max: int = UNLIMITED
    per_host_max: int = UNLIMITED
    per_host_overrides: Mapping[str, int] = field(default_factory=dict)
    descriptor_max: int = UNLIMITED


class Gate:
    """Counts who is in."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.reconfigure(limits)
        self._per_host: Counter[str] = Counter()
        self.total = 0

    def reconfigure(self, limits: ConnectionLimits) -> None:
        """Other limits for those who come; who is in stays in."""
        self._limits = limits
        self._overrides = {
            canonical_host(host): limit for host, limit in limits.per_host_overrides.items()
        }

    def admit(self, host: str, descriptor: int = 0) -> str | None:
        """Lets a client in, or says why not."""
        host = canonical_host(host)
        if descriptor > self._limits.descriptor_max:
            return "too few file descriptors are left; raise the limit of open files (ulimit -n)"
        if self.total >= self._limits.total_max:
            return f"max.connections={self._limits.total_max} is reached"
        limit = self._overrides.get(host, self._limits.per_host_max)
        if self._per_host[host] >= limit:
            return f"max.connections.per.ip={limit} is reached for {host}"
        self._per_host[host] += 1
        self.total += 1
        return None

    def leave(self, host: str) -> None:
        host = canonical_host(host)
        self.total -= 1
        self._per_host[host] -= 1
        if not self._per_host[host]:
            del self._per_host[host]


def canonical_host(host: str) -> str:
    """One spelling for one address; names stay as they are."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
