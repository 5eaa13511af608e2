"""What a handler gets beside its request: who asks, and the services it uses."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from snakka.protocol.messages.header import RequestHeader
from snakka.protocol.schema import Listeners
from snakka.replication.replicas import Replicas


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end of a connection."""

    listener: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a node that answer requests."""

    listeners: Listeners  # the kind of listener that these are for
    replicas: Replicas
    now_ms: Callable[[], int]
    random: Random


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One request's surroundings."""

    header: RequestHeader
    peer: Peer
    services: Services

    @property
    def version(self) -> int:
        return self.header.request_api_version

    @property
    def replicas(self) -> Replicas:
        return self.services.replicas

    def now_ms(self) -> int:
        return self.services.now_ms()
