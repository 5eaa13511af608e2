"""Connections over real sockets, on asyncio's own loop and on uvloop."""

import asyncio
import errno
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvloop

from snakka.apis.context import Peer
from snakka.net.connection import Answer, ConnectionSettings, Serve
from snakka.net.gate import ConnectionLimits, Gate
from snakka.net.listener import Listener
from snakka.protocol.errors import MalformedError
from snakka.protocol.inbox import BufferPool
from snakka.storage.disk import File, LocalDisk

LIMIT = 5_000_000

Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def run_on_loop(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(asyncio.wait_for(main, 20))

    return run_on_loop


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4) + content


async def echo(frame: memoryview, peer: Peer) -> Answer:
    return [framed(bytes(frame))]


def settings(serve: Serve, limits: ConnectionLimits | None = None) -> ConnectionSettings:
    return ConnectionSettings(
        listener="PLAINTEXT",
        serve=serve,
        gate=Gate(limits or ConnectionLimits()),
        pool=BufferPool(),
        frame_bytes_max=LIMIT,
        requests_in_flight_max=10,
    )


@asynccontextmanager
async def listening(
    serve: Serve, limits: ConnectionLimits | None = None, idle_ms_max: int = 60_000
) -> AsyncIterator[Listener]:
    async with Listener("127.0.0.1", 0, idle_ms_max=idle_ms_max) as listener:
        await listener.serve(settings(serve, limits))
        yield listener


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(listener: Listener) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4)))


def test_requests_in_one_write_are_answered_in_order(run: Run) -> None:
    async def scenario() -> None:
        async with listening(echo) as listener, connected(listener) as (reader, writer):
            contents = [b"%d" % i for i in range(50)] + [b"x" * 1_000_000, b""]
            writer.write(b"".join(map(framed, contents)))
            assert [await read_frame(reader) for _ in contents] == contents

    run(scenario())


def test_an_early_answer_waits_for_those_before_it(run: Run) -> None:
    async def slow_first(frame: memoryview, peer: Peer) -> Answer:
        content = bytes(frame)
        if content == b"slow":
            await asyncio.sleep(0.05)
        if content == b"silent":
            return None
        return [framed(content)]

    async def scenario() -> None:
        async with listening(slow_first) as listener, connected(listener) as (reader, writer):
            for content in (b"slow", b"fast", b"silent", b"slow", b"last"):
                writer.write(framed(content))
            assert [await read_frame(reader) for _ in range(4)] == [
                b"slow",
                b"fast",
                b"slow",
                b"last",
            ]

    run(scenario())


def test_work_of_one_connection_overlaps_up_to_its_limit(run: Run) -> None:
    under_way: list[int] = [0]
    most: list[int] = [0]

    async def wait(frame: memoryview, peer: Peer) -> Answer:
        content = bytes(frame)
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        await asyncio.sleep(0.01)
        under_way[0] -= 1
        return [framed(content)]

    async def scenario() -> None:
        async with listening(wait) as listener, connected(listener) as (reader, writer):
            contents = [b"%d" % i for i in range(35)]
            writer.write(b"".join(map(framed, contents)))
            assert [await read_frame(reader) for _ in contents] == contents
        assert most == [10]

    run(scenario())


def test_a_client_with_much_to_do_gives_others_their_turn(run: Run) -> None:
    served: list[bytes] = []

    async def laborious(frame: memoryview, peer: Peer) -> Answer:
        served.append(bytes(frame))
        if served[-1] == b"long":
            time.sleep(0.003)
        return [framed(served[-1])]

    async def scenario() -> None:
        async with (
            listening(laborious) as listener,
            connected(listener) as (_, busy),
            connected(listener) as (reader, writer),
        ):
            busy.write(framed(b"long") * 200)
            await asyncio.sleep(0.01)
            writer.write(framed(b"short"))
            assert await read_frame(reader) == b"short"
            assert served.count(b"long") < 100

    run(scenario())


class Range(NamedTuple):
    file: Any
    position: int
    size_bytes: int


class InFile:
    """Records that lie in a file."""

    def __init__(self, *ranges: Range) -> None:
        self.ranges = ranges

    def __len__(self) -> int:
        return sum(each.size_bytes for each in self.ranges)


def file_of(tmp_path: Path, content: bytes) -> File:
    file = LocalDisk().open(str(tmp_path / "records"), create=True)
    file.write([content], 0)
    return file


def test_ranges_of_files_go_out_between_bytes(run: Run, tmp_path: Path) -> None:
    content = bytes(range(256)) * 20_000
    file = file_of(tmp_path, content)

    async def serve(frame: memoryview, peer: Peer) -> Answer:
        records = InFile(Range(file, 100, 1000), Range(file, 0, 4_000_000))
        return [(len(records) + 8).to_bytes(4), b"head", records, b"tail"]

    async def scenario() -> None:
        async with listening(serve) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"a") * 3)
            await asyncio.sleep(0.05)  # the socket fills up before anything is read
            expected = b"head" + content[100:1100] + content[:4_000_000] + b"tail"
            for _ in range(3):
                assert await read_frame(reader) == expected

    run(scenario())


def test_a_client_that_sends_no_more_gets_the_rest_of_a_file(run: Run, tmp_path: Path) -> None:
    content = bytes(range(256)) * 40_000
    file = file_of(tmp_path, content)

    async def serve(frame: memoryview, peer: Peer) -> Answer:
        return [len(content).to_bytes(4), InFile(Range(file, 0, len(content)))]

    async def scenario() -> None:
        async with listening(serve) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"a"))
            writer.write_eof()
            await asyncio.sleep(0.05)  # the socket is full, and the client's end has been seen
            assert await read_frame(reader) == content
            assert await reader.read() == b""

    run(scenario())


class ColdFile:
    """A file that is not in memory, behind a disk that takes its time."""

    def __init__(self, file: File) -> None:
        self.reads: list[tuple[int, int]] = []
        self.readers: set[int] = set()
        self.may_read = threading.Event()
        self._file = file

    def fileno(self) -> int:
        return self._file.fileno()

    def is_in_memory(self, position: int, size_bytes: int) -> bool:
        return False

    def read(self, position: int, size_bytes: int) -> bytes:
        self.readers.add(threading.get_ident())
        assert self.may_read.wait(10)
        self.reads.append((position, size_bytes))
        return self._file.read(position, size_bytes)


def test_a_file_that_is_not_in_memory_stalls_nobody_else(run: Run, tmp_path: Path) -> None:
    content = bytes(range(256)) * 8_000
    cold = ColdFile(file_of(tmp_path, content))

    async def serve(frame: memoryview, peer: Peer) -> Answer:
        if bytes(frame) == b"cold":
            return [len(content).to_bytes(4), InFile(Range(cold, 0, len(content)))]
        return await echo(frame, peer)

    async def scenario() -> None:
        async with listening(serve) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"cold") + framed(b"next"))
            async with connected(listener) as (other_reader, other_writer):
                other_writer.write(framed(b"hello"))
                assert await read_frame(other_reader) == b"hello"
            cold.may_read.set()
            assert await read_frame(reader) == content
            assert await read_frame(reader) == b"next"
        assert threading.get_ident() not in cold.readers
        assert sum(size for _, size in cold.reads) == len(content), "each byte once"

    run(scenario())


def test_a_client_that_leaves_while_the_disk_is_read(run: Run, tmp_path: Path) -> None:
    cold = ColdFile(file_of(tmp_path, b"x" * 1000))

    async def serve(frame: memoryview, peer: Peer) -> Answer:
        if bytes(frame) == b"cold":
            return [b"\0\0\3\xe8", InFile(Range(cold, 0, 1000))]
        return await echo(frame, peer)

    async def scenario() -> None:
        async with listening(serve) as listener:
            async with connected(listener) as (_, writer):
                writer.write(framed(b"cold"))
                while not cold.readers:
                    await asyncio.sleep(0.001)
            await asyncio.sleep(0.01)
            cold.may_read.set()
            async with connected(listener) as (reader, writer):
                writer.write(framed(b"still here"))
                assert await read_frame(reader) == b"still here"

    run(scenario())


def test_a_disk_that_fails_ends_the_connection(run: Run, tmp_path: Path) -> None:
    cold = ColdFile(file_of(tmp_path, b"x" * 16))
    cold.may_read.set()
    cold.read = failing_read  # type: ignore[method-assign]

    async def serve(frame: memoryview, peer: Peer) -> Answer:
        return [b"\0\0\0\x10", InFile(Range(cold, 0, 16))]

    async def scenario() -> None:
        async with listening(serve) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"a"))
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await read_frame(reader)

    run(scenario())


def failing_read(position: int, size_bytes: int) -> bytes:
    raise OSError(errno.EIO, "Input/output error")


def test_a_file_that_has_become_shorter_ends_the_connection(run: Run, tmp_path: Path) -> None:
    file = file_of(tmp_path, b"")

    async def serve(frame: memoryview, peer: Peer) -> Answer:
        return [b"\0\0\0\x10", InFile(Range(file, 0, 16))]

    async def scenario() -> None:
        async with listening(serve) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"a"))
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await read_frame(reader)

    run(scenario())


def test_a_client_that_does_not_read_is_not_read_from(run: Run) -> None:
    served = [0]

    async def generous(frame: memoryview, peer: Peer) -> Answer:
        served[0] += 1
        return [framed(b"x" * 500_000)]

    async def scenario() -> None:
        async with listening(generous) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"a") * 200)
            await asyncio.sleep(0.2)
            assert served[0] < 100
            for _ in range(200):
                assert len(await read_frame(reader)) == 500_000
            assert served[0] == 200

    run(scenario())


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff", framed(b"bad")]
)
def test_garbage_closes_that_connection_alone(
    run: Run, garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def serve(frame: memoryview, peer: Peer) -> Answer:
        if bytes(frame) == b"bad":
            raise MalformedError("Request", 0, "nonsense")
        return [framed(bytes(frame))]

    async def scenario() -> None:
        async with listening(serve) as listener, connected(listener) as (reader, writer):
            async with connected(listener) as (other_reader, other_writer):
                other_writer.write(garbage)
                with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                    await read_frame(other_reader)
            writer.write(framed(b"good"))
            assert await read_frame(reader) == b"good"

    with caplog.at_level(logging.WARNING):
        run(scenario())
    assert len(caplog.records) == 1


def test_a_failing_handler_closes_its_connection_and_is_logged(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(frame: memoryview, peer: Peer) -> Answer:
        if bytes(frame) == b"later":
            await asyncio.sleep(0)
        raise RuntimeError("a bug")

    async def scenario() -> None:
        async with listening(fail) as listener:
            for content in (b"now", b"later"):
                async with connected(listener) as (reader, writer):
                    writer.write(framed(content))
                    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                        await read_frame(reader)

    run(scenario())
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


def test_too_many_connections_of_one_host_are_refused(run: Run) -> None:
    async def scenario() -> None:
        async with listening(echo, ConnectionLimits(per_host_max=1)) as listener:
            async with connected(listener) as (reader, writer):
                writer.write(framed(b"a"))
                assert await read_frame(reader) == b"a"
                async with connected(listener) as (refused, _):
                    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                        await read_frame(refused)
            await asyncio.sleep(0.05)
            async with connected(listener) as (reader, writer):
                writer.write(framed(b"b"))
                assert await read_frame(reader) == b"b"

    run(scenario())


def test_idle_connections_are_closed(run: Run) -> None:
    async def scenario() -> None:
        async with listening(echo, idle_ms_max=100) as listener, connected(listener) as (reader, _):
            assert await asyncio.wait_for(reader.read(), 2) == b""

    run(scenario())


def test_closing_answers_what_is_under_way(run: Run) -> None:
    async def slow(frame: memoryview, peer: Peer) -> Answer:
        content = bytes(frame)
        await asyncio.sleep(0.1)
        return [framed(content)]

    async def scenario() -> None:
        async with listening(slow) as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(framed(b"wait for me"))
            await asyncio.sleep(0.02)
        assert await read_frame(reader) == b"wait for me"
        assert await reader.read() == b""
        writer.close()

    run(scenario())


def test_a_client_that_has_sent_all_still_gets_its_answers(run: Run) -> None:
    async def slow(frame: memoryview, peer: Peer) -> Answer:
        content = bytes(frame)
        await asyncio.sleep(0.02)
        return [framed(content)]

    async def scenario() -> None:
        async with listening(slow) as listener, connected(listener) as (reader, writer):
            writer.write(framed(b"last words"))
            writer.write_eof()
            assert await read_frame(reader) == b"last words"
            assert await reader.read() == b""

    run(scenario())
