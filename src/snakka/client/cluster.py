"""A cluster, as a client sees it: who leads, coordinates and controls, and asking them.

Every `ask_...` raises what an answer as a whole says went wrong; errors of its parts, such as of
single partitions, are the caller's. Where another node may know better, or waiting may help,
`ask_any`, `ask_controller` and `ask_coordinator` try again until `default_api_timeout_ms`;
`ask_node` asks once. Metadata is asked for anew when it is old, or when somebody found it wrong.

Not here: one connection (connection.py), what is known (metadata.py).
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from enum import IntEnum
from random import Random
from types import TracebackType
from typing import Final, TypeVar

from snakka.client.address import Address, parse_addresses
from snakka.client.answers import check_answer, raise_any
from snakka.client.connection import Connection
from snakka.client.connections import Connections
from snakka.client.errors import ClientError, UnreachableError, WrongNodeError, check, kafka_error
from snakka.client.metadata import ClusterMetadata, Node, PartitionInfo, TopicInfo
from snakka.client.retrying import Retrying
from snakka.client.settings import DEFAULT_SETTINGS, ClientSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from snakka.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Uuid

_R = TypeVar("_R", bound=Response)

COORDINATOR_LANE: Final = "coordinator"

_COORDINATOR_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    }
)


class CoordinatorType(IntEnum):
    """What a coordinator is looked up by."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class Cluster:
    """An async context manager; `bootstrap_servers` is `host:port,...` or a list of such."""

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        settings: ClientSettings = DEFAULT_SETTINGS,
        rng: Random | None = None,
    ) -> None:
        self._bootstrap = parse_addresses(bootstrap_servers)
        self.settings = settings
        self.rng = rng or Random()
        self.retrying = Retrying(settings, self.rng)
        self.metadata = ClusterMetadata()
        self._connections = Connections(settings, self.rng)
        self._refreshing = asyncio.Lock()
        self._refreshed_at_s: dict[str, float] = {}
        self._coordinators: dict[tuple[CoordinatorType, str], int] = {}

    async def __aenter__(self) -> "Cluster":
        await self._connections.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._connections.__aexit__(kind, error, trace)

    async def ask_any(
        self, request: Request, response: type[_R], *, version: int | None = None
    ) -> _R:
        """The answer of whichever node gives one."""
        return await self.retrying(lambda: self._ask_first(request, response, version, None))

    async def ask_controller(
        self, request: Request, response: type[_R], *, version: int | None = None
    ) -> _R:
        """The answer of the node that is named as controller, or of any, which passes it on."""

        async def attempt() -> _R:
            if not self.metadata.nodes:
                await self.refresh(())
            controller = self.metadata.nodes.get(self.metadata.controller_id)
            try:
                answer = await self._ask_first(request, response, version, controller)
                raise_any(answer, {ErrorCode.NOT_CONTROLLER})
                return answer
            except WrongNodeError:
                await self.refresh(())
                raise

        return await self.retrying(attempt)

    async def ask_coordinator(
        self,
        key: str,
        key_type: CoordinatorType,
        request: Request,
        response: type[_R],
        *,
        version: int | None = None,
    ) -> _R:
        """The answer of the coordinator of a group or a transactional id."""

        async def attempt() -> _R:
            node_id = await self.get_coordinator(key, key_type)
            try:
                answer = await self.ask_node(
                    node_id, request, response, version=version, lane=COORDINATOR_LANE
                )
                raise_any(answer, _COORDINATOR_MOVED)
            except ClientError as error:
                if isinstance(error, UnreachableError | WrongNodeError):
                    self._coordinators.pop((key_type, key), None)
                raise
            return answer

        return await self.retrying(attempt)

    async def ask_node(
        self,
        node_id: int,
        request: Request,
        response: type[_R],
        *,
        version: int | None = None,
        timeout_ms: int | None = None,
        lane: str = "",
    ) -> _R:
        """The answer of one node, asked once."""
        connection = await self.connect(node_id, lane)
        answer = await connection.ask(request, response, version=version, timeout_ms=timeout_ms)
        check_answer(answer)
        return answer

    async def connect(self, node_id: int, lane: str = "") -> Connection:
        """The connection to a node of the cluster."""
        if node_id not in self.metadata.nodes:
            await self.refresh(())
        node = self.metadata.nodes.get(node_id)
        if node is None:
            raise UnreachableError(f"there is no node {node_id} in the cluster")
        return await self._connections.connect(node.address, lane)

    async def features(self) -> Mapping[str, int]:
        """The finalized features of the cluster, as one of its nodes tells them (KIP-584)."""
        if not self.metadata.nodes:
            await self.refresh(())
        connection = await self.connect(next(iter(self.metadata.nodes)))
        return connection.features

    async def get_coordinator(self, key: str, key_type: CoordinatorType) -> int:
        """The id of the node that coordinates; one attempt, where it is not known yet."""
        known = self._coordinators.get((key_type, key))
        if known is not None:
            return known
        request = FindCoordinatorRequest(key="", key_type=key_type, coordinator_keys=[key])
        answer = await self._ask_first(request, FindCoordinatorResponse, None, None)
        (found,) = answer.coordinators
        check(found.error_code, found.error_message)
        node = Node(found.node_id, Address(found.host, found.port), None)
        if node.id not in self.metadata.nodes:
            self.metadata = self.metadata.with_nodes([node])
        self._coordinators[key_type, key] = node.id
        return node.id

    async def get_topic(self, name: str, *, may_create: bool = False) -> TopicInfo:
        """A topic; with `may_create` a broker may make it, if it is set up to."""

        async def attempt() -> TopicInfo:
            asked_s = _now_s()
            if self._is_old(name, asked_s):
                await self.refresh([name], may_create=may_create)
            refusal = self.metadata.refusals.get(name)
            if refusal is not None:
                self.mark_stale(name)
                raise kafka_error(refusal)
            return self.metadata.topics[name]

        return await self.retrying(attempt)

    async def get_leader(self, topic: str, partition: int) -> PartitionInfo:
        """A partition that has a leader, with its id and epoch."""

        async def attempt() -> PartitionInfo:
            info = (await self.get_topic(topic)).partitions.get(partition)
            if info is None or info.leader_id < 0:
                self.mark_stale(topic)
                raise kafka_error(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    if info is None
                    else ErrorCode.LEADER_NOT_AVAILABLE
                )
            return info

        return await self.retrying(attempt)

    def find_topic(self, name: str) -> TopicInfo | None:
        """A topic, as far as it is known and was not found wrong."""
        info = self.metadata.topics.get(name)
        return None if info is None or self._is_old(name, _now_s()) else info

    def find_leader(self, topic: str, partition: int) -> int | None:
        """The node that leads, as far as is known and was not found wrong."""
        info = self.metadata.find_partition(topic, partition)
        is_known = info is not None and info.leader_id >= 0 and not self._is_old(topic, _now_s())
        return info.leader_id if info is not None and is_known else None

    def leader_epoch(self, topic: str, partition: int) -> int:
        """The newest leader epoch that was told; -1 where none was."""
        info = self.metadata.find_partition(topic, partition)
        return -1 if info is None else info.leader_epoch

    async def learn_topics(self, topic_ids: Collection[Uuid]) -> None:
        """Asks for topics of which only the ids are known."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(topic_id=each, name=None) for each in topic_ids],
            allow_auto_topic_creation=False,
        )
        self._learn(await self.ask_any(request, MetadataResponse))

    async def learn_all_topics(self) -> None:
        """Asks for all topics that there are."""
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        self._learn(await self.ask_any(request, MetadataResponse))

    def find_connection(self, node_id: int, lane: str = "") -> Connection | None:
        """The open connection to a node."""
        node = self.metadata.nodes.get(node_id)
        return None if node is None else self._connections.find(node.address, lane)

    def mark_stale(self, topic: str) -> None:
        """What is known of a topic was found wrong: it is asked for before it is used again."""
        self._refreshed_at_s.pop(topic, None)

    def learn_leader(
        self, topic: str, partition: int, leader_id: int, leader_epoch: int, nodes: Iterable[Node]
    ) -> None:
        """Takes what a refusal told instead of metadata (KIP-951); a negative id tells nothing."""
        if leader_id >= 0:
            known = self.metadata.with_nodes(nodes)
            self.metadata = known.with_leader(topic, partition, leader_id, leader_epoch)

    async def refresh(
        self, topics: Collection[str] | None = None, *, may_create: bool = False
    ) -> None:
        """Asks for the nodes and for these topics, or for all that are known."""
        asked_s = _now_s()
        async with self._refreshing:
            names = list(self.metadata.topics) if topics is None else list(topics)
            if names and all(self._refreshed_at_s.get(each, 0) > asked_s for each in names):
                return  # somebody else has, while this waited
            request = MetadataRequest(
                topics=[MetadataRequestTopic(name=each) for each in names],
                allow_auto_topic_creation=may_create,
            )
            answer = await self._ask_first(request, MetadataResponse, None, None)
            self._learn(answer)

    def _learn(self, answer: MetadataResponse) -> None:
        self.metadata = self.metadata.after(answer)
        told = [each.name for each in answer.topics if each.name is not None]
        self._refreshed_at_s.update(dict.fromkeys(told, _now_s()))

    def _is_old(self, topic: str, now_s: float) -> bool:
        refreshed_at_s = self._refreshed_at_s.get(topic)
        max_age_s = self.settings.metadata_max_age_ms / 1000
        return refreshed_at_s is None or now_s > refreshed_at_s + max_age_s

    async def _ask_first(
        self, request: Request, response: type[_R], version: int | None, preferred: Node | None
    ) -> _R:
        """The answer of the first node that can be reached; the bootstrap servers come last."""
        nodes = self._connections.by_health(each.address for each in self.metadata.nodes.values())
        bootstrap = self._connections.by_health(self._bootstrap)
        first = [] if preferred is None else [preferred.address]
        failure: UnreachableError | None = None
        for address in dict.fromkeys([*first, *nodes, *bootstrap]):
            try:
                answer = await self._connections.ask(address, request, response, version=version)
            except UnreachableError as error:
                failure = failure or error
                continue
            check_answer(answer)
            return answer
        assert failure is not None
        raise failure


def _now_s() -> float:
    return asyncio.get_running_loop().time()
