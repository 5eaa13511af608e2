"""A node's request handling over real logs in a directory, without sockets or a controller."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from snakka.apis.context import Peer, QuorumFacts, Sender, Services
from snakka.apis.dispatch import Dispatcher
from snakka.apis.kept_answers import KeptAnswers
from snakka.config.broker import BrokerConfig
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.offsets import TopicPartition as GroupPartition
from snakka.coordinators.share_state.share_states import ShareStates
from snakka.coordinators.transactions.initializing import Producer
from snakka.coordinators.transactions.transactions import Transactions
from snakka.metadata.image import EMPTY
from snakka.node.log_dirs import NodeLogDirs, Room
from snakka.node.markers import LocalMarkers
from snakka.node.moves import Moves
from snakka.protocol.codec import Chunk
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import read_response, write_request
from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Buffer, Uuid
from snakka.replication.admission import TopicRules
from snakka.replication.fetch_sessions import FetchSessions
from snakka.replication.partition import Assignment, Partition
from snakka.replication.replica import Replica
from snakka.replication.replicas import Replicas
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.group_commit import GroupCommit
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import TopicPartition
from snakka.storage.open_files import OpenFiles

NOW_MS = 1_700_000_000_000
NODE_ID = 1
TOPIC_ID = Uuid(b"topic-id-of-test")

A = TypeVar("A", bound=Response)


class Nobody:
    """Stands for the services that these tests do not reach."""

    async def ask(
        self, request: Request, version: int, response: type[A], sender: Sender | None = None
    ) -> A:
        raise AssertionError(request)

    async def create_missing(self, names: Sequence[str]) -> None:
        raise AssertionError(names)


class FakeCoordinator:
    """Whoever coordinates transactions: it answers what it is told to, once it may."""

    def __init__(self) -> None:
        self.answers: list[ErrorCode] = []  # then the last one, again and again
        self.asked: list[tuple[str, str, Producer, list[int]]] = []
        self.gate: asyncio.Event | None = None

    async def add_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: AbstractSet[GroupPartition],
        client_version: int,
    ) -> ErrorCode:
        return await self._answer("add", transactional_id, producer, partitions)

    async def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: AbstractSet[GroupPartition]
    ) -> Mapping[GroupPartition, ErrorCode]:
        code = await self._answer("verify", transactional_id, producer, partitions)
        return dict.fromkeys(partitions, code)

    async def _answer(
        self,
        what: str,
        transactional_id: str,
        producer: Producer,
        partitions: AbstractSet[GroupPartition],
    ) -> ErrorCode:
        indexes = sorted(each.partition for each in partitions)
        self.asked.append((what, transactional_id, producer, indexes))
        if self.gate is not None:
            await self.gate.wait()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class TestBroker:
    """Requests in, responses out, as bytes on the way."""

    __test__ = False

    def __init__(self, path: Path) -> None:
        self.now_ms = NOW_MS
        self.replicas = Replicas()
        self.image = EMPTY
        self.coordinator = FakeCoordinator()
        files = OpenFiles(LocalDisk())
        opened = LogDirectory.open(
            files, str(path), random.Random(1), lambda _: LogConfig(), now_ms=NOW_MS
        )
        self.directories = LogDirectories({str(path): TOPIC_ID}, [opened.directory], {})
        threads = ThreadPoolExecutor(1)
        self._services = Services(
            cluster_id="test-cluster",
            config=BrokerConfig({"node.id": str(NODE_ID), "process.roles": "broker"}),
            listeners=Listeners.BROKER,
            replicas=self.replicas,
            fetch_sessions=FetchSessions(slots_max=2, rng=random.Random(2)),
            group_commit=GroupCommit(files.disk, threads),
            checkpoint=self._checkpoint,
            log_dirs=NodeLogDirs(
                self.directories,
                self.replicas,
                cast(Moves, Nobody()),
                threads,
                find_room=lambda path: Room(100, 40),
            ),
            find_image=lambda: self.image,
            find_quorum=lambda: QuorumFacts(None, 1),
            controller=Nobody(),
            topics=Nobody(),
            described=KeptAnswers(),
            groups=cast(Groups, Nobody()),
            transactions=cast(Transactions, Nobody()),
            transaction_coordinator=self.coordinator,
            share_states=cast(ShareStates, Nobody()),
            markers=cast(LocalMarkers, Nobody()),
            verifies_transactions=lambda: True,
            now_ms=lambda: self.now_ms,
        )
        self._dispatcher = Dispatcher(self._services)

    def use(self, **services: object) -> None:
        """Real ones, where a test reaches them."""
        self._services = replace(self._services, **services)  # type: ignore[arg-type]
        self._dispatcher = Dispatcher(self._services)

    def create(
        self,
        topic: str,
        config: LogConfig | None = None,
        rules: TopicRules | None = None,
        *,
        topic_id: Uuid = TOPIC_ID,
        index: int = 0,
        isr: tuple[int, ...] = (NODE_ID,),
        replicas: tuple[int, ...] | None = None,
        leader: int = NODE_ID,
        leader_epoch: int = 5,
    ) -> Replica:
        partition = TopicPartition(topic, index)
        log = self.directories.find_log(partition) or self.directories.create(
            partition, topic_id, config or LogConfig(), now_ms=NOW_MS
        )
        assignment = Assignment(leader, leader_epoch, 0, replicas or isr, isr)
        replica = Replica(
            topic, topic_id, index, log, Partition(NODE_ID, assignment), rules or TopicRules()
        )
        self.replicas.add(replica)
        return replica

    async def _checkpoint(self) -> None:
        self.directories.checkpoint()

    async def ask(
        self, request: Request, version: int, response: type[A], sender: Sender | None = None
    ) -> A:
        answer = await self.serve(request, version)
        assert answer is not None
        return read_response(response, version, flat(answer)[4:])[1]

    async def serve(self, request: Request, version: int) -> list[Chunk] | None:
        return await self.serve_frame(memoryview(bytearray(self.frame(request, version))))

    def frame(self, request: Request, version: int) -> bytes:
        return flat(write_request(request, version, correlation_id=1, client_id="test"))[4:]

    async def serve_frame(self, frame: memoryview) -> list[Chunk] | None:
        return await self._dispatcher.serve(frame, Peer("PLAINTEXT", "127.0.0.1", 1))


def flat(chunks: list[Chunk]) -> bytes:
    """What a client receives."""
    return b"".join(
        bytes(chunk) if isinstance(chunk, Buffer) else _read_files(chunk) for chunk in chunks
    )


def _read_files(records: object) -> bytes:
    ranges = cast(Callable[..., object], records).ranges  # type: ignore[attr-defined]
    return b"".join(each.file.read(each.position, each.size_bytes) for each in ranges)


run = asyncio.run
