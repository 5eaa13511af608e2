"""`snakka produce`: records from lines of standard input or of a file."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any, BinaryIO, Final

import click

from snakka.cli.connecting import on_cluster, refuse
from snakka.cli.output import counted
from snakka.cli.parsing import parse_pair, parsed
from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError
from snakka.client.producer import ALL, Delivery, Producer, ProducerSettings
from snakka.protocol.records.compression import Compression

_ACKS: Final = {"0": 0, "1": 1, "all": ALL}
_UNCONFIRMED_MAX: Final = 100_000


@click.command(
    epilog="Example: echo 'k1:hello' | snakka produce orders -k :",
    context_settings={"show_default": True},
)
@click.argument("topic")
@click.argument("source", type=click.File("rb"), default="-", metavar="[FILE]")
@click.option(
    "-k",
    "--key-delimiter",
    metavar="TEXT",
    help="What stands between key and value in a line; a line without it has no key.",
)
@click.option("--key", "fixed_key", metavar="TEXT", help="One key for all records.")
@click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    callback=parsed(parse_pair),
    metavar="NAME=VALUE",
    help="The same for all records.",
)
@click.option("-p", "--partition", type=click.IntRange(min=0), help="All to this one.")
@click.option(
    "-z",
    "--compression",
    type=click.Choice([each.name.lower() for each in Compression]),
    default="none",
)
@click.option("-a", "--acks", type=click.Choice(list(_ACKS)), default="all")
@click.option("--null", is_flag=True, help="An empty value is null: it deletes a key.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing at the end.")
@on_cluster
async def produce(
    cluster: Cluster,
    topic: str,
    source: BinaryIO,
    compression: str,
    acks: str,
    quiet: bool,
    **lines: Any,
) -> None:
    """Write records from lines of text, each line one record."""
    settings = ProducerSettings(
        acks=_ACKS[acks],
        enable_idempotence=_ACKS[acks] == ALL,
        compression_type=Compression[compression.upper()],
        delivery_timeout_ms=cluster.settings.default_api_timeout_ms,
        max_block_ms=cluster.settings.default_api_timeout_ms,
    )
    progress = _Progress(quiet)
    async with Producer(cluster, settings) as producer:
        unconfirmed: list[Delivery] = []
        async for line in _lines(source):
            key, value = _split(line, lines["key_delimiter"], lines["fixed_key"])
            unconfirmed.append(
                await producer.send(
                    topic,
                    None if lines["null"] and not value else value,
                    key=key,
                    partition=lines["partition"],
                    headers=[(name, content.encode()) for name, content in lines["headers"]],
                )
            )
            if len(unconfirmed) == _UNCONFIRMED_MAX:
                await _confirm(producer, unconfirmed, progress)
        await _confirm(producer, unconfirmed, progress)
    progress.finish(topic)


async def _lines(source: BinaryIO) -> AsyncIterator[bytes]:
    """Lines without their ends. Read in a thread: what was read is sent while none comes."""
    while chunk := await asyncio.to_thread(source.readlines, 1 << 16):
        for line in chunk:
            yield line.removesuffix(b"\n").removesuffix(b"\r")


async def _confirm(producer: Producer, unconfirmed: list[Delivery], progress: "_Progress") -> None:
    """Waits until these are written; the first that could not be ends the command."""
    await producer.flush()
    for each in unconfirmed:
        try:
            await each
        except ClientError as error:
            refuse(f"after {progress.count} records: {error}")
        progress.count += 1
    unconfirmed.clear()
    progress.show()


def _split(line: bytes, delimiter: str | None, fixed_key: str | None) -> tuple[bytes | None, bytes]:
    if delimiter is not None and delimiter.encode() in line:
        key, _, value = line.partition(delimiter.encode())
        return key, value
    return None if fixed_key is None else fixed_key.encode(), line


class _Progress:
    """How many records were written, on standard error: standard output is for what is asked."""

    def __init__(self, quiet: bool) -> None:
        self.count = 0
        self._quiet = quiet
        self._is_live = sys.stderr.isatty()

    def show(self) -> None:
        if not self._quiet and self._is_live:
            click.echo(f"\r{self.count:,} records written", nl=False, err=True)

    def finish(self, topic: str) -> None:
        if not self._quiet:
            start = "\r" if self._is_live else ""
            click.echo(f"{start}{counted(self.count, 'record')} written to {topic}", err=True)
