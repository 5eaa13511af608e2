"""A broker within the test's own process, on a port of its own.

It runs in a thread with an event loop of its own, so that a test may block, and may move the
broker's time on without moving its own.
"""

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from snakka.app.ground import Surroundings
from snakka.app.node import Node, running_node
from snakka.client.records import ConsumedRecord
from snakka.config.loading import load_broker_config
from snakka.config.sources import Setting
from snakka.config.standalone import standalone_settings
from snakka.testing.clock import MovableLoop
from snakka.testing.faults import FaultScript
from snakka.testing.topics import create_topic, read_topic, until_serving

if TYPE_CHECKING:
    import pyarrow

_T = TypeVar("_T")

_IN_MEMORY: Final = Path("/dev/shm")
_HOST: Final = "127.0.0.1"
_TURN_S: Final = 0.05
# As many partitions as Kafka has would make the first use of a group or a transaction slow.
_SETTINGS: Final = {
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
}


class Broker:
    """One Kafka broker for as long as the context lasts, `with` or `async with`.

    Without a `directory` its data is in memory, where the machine has a file system for that, and
    gone afterwards. `settings` are Kafka's broker settings.
    """

    __test__ = False

    def __init__(
        self, *, directory: Path | str | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self.faults = FaultScript()
        self._kept_directory = directory
        self._settings = settings or {}
        self._port = 0
        self._node: Node
        self._loop: MovableLoop
        self._thread: threading.Thread

    @property
    def bootstrap_servers(self) -> str:
        """What a client connects to."""
        return f"{_HOST}:{self._port}"

    @property
    def directory(self) -> Path:
        """Where the data is."""
        return self._directory

    def start(self) -> "Broker":
        """Returns once the broker serves; StartError where it cannot."""
        if self._kept_directory is None:
            place = _IN_MEMORY if _IN_MEMORY.is_dir() else None
            self._directory = Path(tempfile.mkdtemp(prefix="snakka-", dir=place))
        else:
            self._directory = Path(self._kept_directory)
        try:
            self._run()
        except BaseException:
            self._remove_directory()
            raise
        return self

    def stop(self) -> None:
        """Shuts down as SIGTERM does."""
        self._end()
        self._remove_directory()

    def restart(self) -> None:
        """Stops, and serves the same data on the same port again."""
        self._end()
        self._run()

    def advance(self, seconds: float) -> None:
        """Moves the broker's time on: sessions expire, retention and time-outs come due.

        Its own session with the controller is among them, so this returns once it serves again.
        """
        self._do(self._advance(seconds))

    def create_topic(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        """Returns once the topic can be written to; KafkaError where it cannot be made."""
        self._do(create_topic(self.bootstrap_servers, name, partitions, configs or {}))

    def read(self, topic: str) -> list[ConsumedRecord]:
        """The committed records of a topic, partition by partition."""
        fetched = self._do(read_topic(self.bootstrap_servers, topic))
        return [record for each in fetched for record in each.records()]

    def read_table(self, topic: str) -> "pyarrow.Table":
        """The same records as an Arrow table, with the column `partition` (extra `spark`)."""
        from snakka.testing.tables import to_table

        return to_table(self._do(read_topic(self.bootstrap_servers, topic)))

    def __enter__(self) -> "Broker":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> "Broker":
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)

    def _do(self, what: Coroutine[Any, Any, _T]) -> _T:
        """On the broker's loop, from whatever thread."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _advance(self, seconds: float) -> None:
        self._loop.advance(seconds)
        await asyncio.sleep(_TURN_S)  # what has come due runs
        await until_serving(self.bootstrap_servers)

    def _run(self) -> None:
        started: Future[Node] = Future()
        self._loop = MovableLoop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(
            target=self._host, args=(started,), name="snakka-broker", daemon=True
        )
        self._thread.start()
        try:
            self._node = started.result()
        except BaseException:
            self._thread.join()
            raise
        self._port = self._node.port

    def _remove_directory(self) -> None:
        if self._kept_directory is None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def _end(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: it has ended by itself
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _host(self, started: "Future[Node]") -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(started))

    async def _serve(self, started: "Future[Node]") -> None:
        surroundings = Surroundings(now_ms=self._loop.now_ms, around=self.faults.around)
        try:
            config = load_broker_config(self._all_settings())
            async with running_node(config, surroundings) as node:
                started.set_result(node)
                await self._stopping.wait()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)

    def _all_settings(self) -> Iterator[Setting]:
        yield from standalone_settings(_HOST, self._port)
        source = "the test"
        yield Setting("log.dirs", str(self._directory), source)
        for name, text in {**_SETTINGS, **self._settings}.items():
            yield Setting(name, text, source)
