"""What a handler gets beside its request: who asks, and the services it uses."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from snakka.apis.kept_answers import KeptAnswers
from snakka.config.broker import BrokerConfig
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import TransactionEnd
from snakka.coordinators.share_state.share_states import ShareStates
from snakka.coordinators.transactions.initializing import Producer
from snakka.coordinators.transactions.transactions import Transactions
from snakka.metadata.image import MetadataImage
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.header import RequestHeader
from snakka.protocol.schema import Listeners, Request, Response
from snakka.replication.fetch_sessions import FetchSessions
from snakka.replication.replicas import Replicas
from snakka.storage.group_commit import GroupCommit

_A = TypeVar("_A", bound=Response)

ANONYMOUS: Final = "ANONYMOUS"  # who everybody is that has not said who


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end of a connection."""

    listener: str
    host: str
    port: int


class Sender(NamedTuple):
    """In whose name the controller is asked."""

    host: str
    client_id: str
    user: str = ANONYMOUS


class LogDirReplica(NamedTuple):
    """A replica in a log directory, or one that moves in."""

    topic: str
    partition: int
    size_bytes: int
    offset_lag: int
    is_future: bool = False


class LogDir(NamedTuple):
    """A log directory with what is in it, and the room on its volume."""

    path: str
    is_online: bool
    replicas: Sequence[LogDirReplica] = ()
    total_bytes: int = -1
    usable_bytes: int = -1
    is_cordoned: bool = False


class LogDirs(Protocol):
    """The log directories of this broker."""

    async def describe(self) -> Sequence[LogDir]: ...

    async def move(self, topic: str, index: int, path: str) -> None:
        """Has a replica moved to another directory, in its own time."""


class Controller(Protocol):
    """The active controller: wherever it is, to a broker; here or nowhere, to a controller."""

    async def ask(
        self, request: Request, version: int, response: type[_A], sender: Sender | None = None
    ) -> _A:
        """Its answer; RefusedError where there is none. Without a sender this node itself asks."""


class QuorumFacts(NamedTuple):
    """The metadata quorum, as this node knows it."""

    leader_id: int | None
    kraft_version: int  # the one feature level that is not in the image


class TopicCreation(Protocol):
    """Topics that come to be because somebody asked for them."""

    async def create_missing(self, names: Sequence[str]) -> None:
        """Returns once they are there, or will not be."""


class TransactionCoordinator(Protocol):
    """Whoever coordinates a transactional id, wherever that is (KIP-890)."""

    async def add_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: AbstractSet[TopicPartition],
        client_version: int,
    ) -> ErrorCode:
        """The producer is about to write to the partitions."""

    async def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: AbstractSet[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        """Whether each is in the producer's transaction."""


class MarkerWriter(Protocol):
    """Writes transaction markers to partitions that this broker leads."""

    async def write(
        self, end: TransactionEnd, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        """NONE for a partition once its marker is committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeServices:
    """The parts that every node has; all that there is behind a controller's listener."""

    cluster_id: str
    config: BrokerConfig
    listeners: Listeners  # the kind of listener that these are for
    find_image: Callable[[], MetadataImage]
    find_quorum: Callable[[], QuorumFacts]
    controller: Controller
    now_ms: Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services(NodeServices):
    """The parts of a broker that answer requests."""

    replicas: Replicas
    fetch_sessions: FetchSessions
    group_commit: GroupCommit
    checkpoint: Callable[[], Awaitable[None]]  # of all logs' starts and ends, durably
    log_dirs: LogDirs
    topics: TopicCreation
    described: KeptAnswers
    groups: Groups
    transactions: Transactions
    transaction_coordinator: TransactionCoordinator
    share_states: ShareStates
    markers: MarkerWriter
    verifies_transactions: Callable[[], bool]


_S = TypeVar("_S", bound=NodeServices, covariant=True)


@dataclass(frozen=True, slots=True)
class Context(Generic[_S]):
    """One request's surroundings."""

    header: RequestHeader
    peer: Peer
    services: _S

    @property
    def version(self) -> int:
        return self.header.request_api_version

    @property
    def image(self) -> MetadataImage:
        """The cluster as this node knows it by now."""
        return self.services.find_image()

    def now_ms(self) -> int:
        return self.services.now_ms()

    async def ask_controller(self, request: Request, response: type[_A]) -> _A:
        """What the active controller says to the request, in the name of its sender."""
        sender = Sender(self.peer.host, self.header.client_id or "")
        return await self.services.controller.ask(request, self.version, response, sender)


NodeContext: TypeAlias = Context[NodeServices]


class RequestContext(Context[Services]):
    """The surroundings of a request to a broker."""

    __slots__ = ()

    @property
    def replicas(self) -> Replicas:
        return self.services.replicas

    @property
    def client(self) -> ClientInfo:
        """The client as a group's coordinator knows it."""
        return ClientInfo(self.header.client_id or "", f"/{self.peer.host}", self.version)
