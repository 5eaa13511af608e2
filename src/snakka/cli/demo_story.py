"""What a demonstration does beside its broker: it feeds a topic, runs a pipeline and audits it.

The pipeline is `snakka pipeline run` on a file that stays for whoever wants to go on with it.
"""

import asyncio
import json
import random
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from snakka.app.node import Node
from snakka.cli.output import counted
from snakka.cli.progress_line import ProgressLine
from snakka.cli.spark import WITHOUT_JAVA, has_java
from snakka.client.admin.topics import NewTopic, create_topics
from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError, KafkaError
from snakka.client.producer import Producer
from snakka.protocol.error_codes import ErrorCode

_TOPICS: Final = ("orders", "orders-rejected")
_PARTITIONS: Final = 2
_MALFORMED_SHARE: Final = 0.01
_ITEMS: Final = ("tea", "rope", "lamp", "boots")
_UNKNOWN: Final = -1
_TURN_S: Final = 0.1
_PATIENCE_S: Final = 15.0
_DECLARATION: Final = """\
# Orders in JSON become rows of a Delta table, each once; what is malformed goes to a topic.
name = "orders"
checkpoint = "orders-checkpoint"
dead_letter_topic = "orders-rejected"

[options]
bootstrap.servers = "{bootstrap}"

[[sources]]
topics = ["orders"]
[sources.value]
format = "json"
schema = "id BIGINT NOT NULL, item STRING, amount DECIMAL(9,2)"

[transform]
sql = "SELECT *, CAST(_timestamp AS DATE) AS day FROM source"

[checks]
"amount is positive" = "amount > 0"

[table]
format = "delta"
location = "orders"
partition_by = ["day"]
"""


class Story:
    """One demonstration, in a directory of its own."""

    def __init__(self, directory: Path, *, seconds: int, rate: int) -> None:
        self._directory = directory
        self._seconds = seconds
        self._rate = rate
        self._file = directory / "orders.toml"
        self._lag = _UNKNOWN
        self._rows = 0
        self.has_failed = False

    async def tell(self, node: Node) -> None:
        """All of it; where the pipeline cannot run, what is missing."""
        missing = _missing()
        if missing is not None:
            click.echo(f"  tables  {missing}")
            return
        try:
            await self._tell(f"{node.host}:{node.port}")
        except ClientError as error:
            click.echo(f"snakka: {error}", err=True)
            self.has_failed = True

    async def _tell(self, bootstrap: str) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._file.write_text(_DECLARATION.format(bootstrap=bootstrap), encoding="utf-8")
        click.echo(f"  tables  {self._file}")
        click.echo(f"Feeding the topic orders with {self._rate} records/s; Spark is starting.")
        async with Cluster(bootstrap) as cluster:
            await _make_topics(cluster)
            async with _command("run", str(self._file), "--json") as process:
                following = asyncio.create_task(self._follow(process))
                await self._feed(cluster, following)
                await self._catch_up(following)
        if self._lag != 0:
            click.echo(f"The pipeline has ended too early: snakka pipeline run {self._file}")
            self.has_failed = True
            return
        click.echo("All that was written is in the table. Is each record in it once?")
        sys.stdout.flush()
        async with _command("audit", str(self._file)) as process:
            await _print_output(process)
            self.has_failed = await process.wait() != 0

    async def _feed(self, cluster: Cluster, following: "asyncio.Task[None]") -> None:
        """At a steady rate for some seconds, from when the first rows are in the table."""
        loop = asyncio.get_running_loop()
        rng = random.Random()
        sent, began_at_s, ends_at_s = 0, loop.time(), float("inf")
        async with Producer(cluster) as producer:
            while loop.time() < ends_at_s and not following.done():
                await asyncio.sleep(_TURN_S)
                if self._rows and ends_at_s == float("inf"):
                    ends_at_s = loop.time() + self._seconds
                while sent < (loop.time() - began_at_s) * self._rate:
                    await producer.send("orders", _order(sent, rng))
                    sent += 1
        click.echo(f"{counted(sent, 'record')} were written to orders.")

    async def _catch_up(self, following: "asyncio.Task[None]") -> None:
        """Until a step ends that has left nothing."""
        self._lag = _UNKNOWN
        while self._lag != 0 and not following.done():
            await asyncio.sleep(_TURN_S)

    async def _follow(self, process: Process) -> None:
        """A line for each step of the pipeline."""
        line = ProgressLine(as_json=False)
        assert process.stdout is not None
        async for text in process.stdout:
            step = json.loads(text)
            self._rows += step["rows"]
            self._lag = _UNKNOWN if step["lag"] is None else step["lag"]
            line.show(
                f"  table orders: {self._rows:,} rows (+{step['rows']:,},"
                f" {step['rejected']:,} rejected), {step['rows_per_s']:,.0f} rows/s,"
                f" lag {step['lag']}, {step['duration_s']:.2f} s",
                step,
            )
        line.close()


def _missing() -> str | None:
    if not has_java():
        return WITHOUT_JAVA
    if find_spec("pyspark") is None or find_spec("deltalake") is None:
        return "Spark and the formats of tables are not here: pip install 'snakka[tables]'"
    return None


def _order(number: int, rng: random.Random) -> bytes:
    if rng.random() < _MALFORMED_SHARE:
        return b'{"id": ' + str(number).encode()
    amount = rng.randint(1, 10_000) / 100
    return json.dumps({"id": number, "item": rng.choice(_ITEMS), "amount": amount}).encode()


async def _make_topics(cluster: Cluster) -> None:
    wanted = [NewTopic(name, _PARTITIONS, 1) for name in _TOPICS]
    for outcome in (await create_topics(cluster, wanted)).values():
        if isinstance(outcome, KafkaError) and outcome.code != ErrorCode.TOPIC_ALREADY_EXISTS:
            raise outcome


async def _print_output(process: Process) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        click.echo(line.decode(), nl=False)


@asynccontextmanager
async def _command(*words: str) -> AsyncIterator[Process]:
    """A command of `snakka pipeline` while the context lasts; Ctrl-C is not for it."""
    command = (sys.executable, "-m", "snakka", "pipeline", *words)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE_S)
        except TimeoutError:
            process.kill()
            await process.wait()
