"""Where a node listens, as text and in parts. A name is resolved anew whenever it is dialled."""

from collections.abc import Iterable
from typing import Final, NamedTuple

_PORT_MAX: Final = 65535
DEFAULT_PORT: Final = 9092


class Address(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """`host:port`, `host` or `[::1]:port`; ValueError where it is none."""
        host, port = text.strip(), str(DEFAULT_PORT)
        if host.count(":") == 1 or (host.startswith("[") and "]:" in host):
            host, _, port = host.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not host or not port.isdecimal() or not 0 < int(port) <= _PORT_MAX:
            raise ValueError(f"{text!r} is not HOST:PORT")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(servers: str | Iterable[str]) -> tuple[Address, ...]:
    """The addresses of `bootstrap.servers`: a list, or one text with commas."""
    texts = servers.split(",") if isinstance(servers, str) else servers
    addresses = tuple(Address.parse(each) for each in texts if each.strip())
    if not addresses:
        raise ValueError("no bootstrap server is given")
    return addresses
