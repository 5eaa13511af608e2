"""`snakka consume`: records to standard output, by partition or as a member of a group."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from snakka.cli.connecting import on_cluster, refuse
from snakka.cli.moments import StartAt, parse_start
from snakka.cli.parsing import parse_place, parsed
from snakka.cli.record_format import HELP, Write, compile_format, write_json
from snakka.client.cluster import Cluster
from snakka.client.consumer import Consumer
from snakka.client.consumer_settings import ConsumerSettings, OffsetReset
from snakka.client.errors import kafka_error
from snakka.client.list_offsets import EARLIEST, LATEST, IsolationLevel, list_offsets
from snakka.client.records import ConsumedRecord, TopicPartition
from snakka.protocol.error_codes import ErrorCode

_VALUE_PER_LINE: Final = r"%v\n"
_POLL_MS: Final = 200
_NOT_FOUND: Final = -1  # no record is as young as asked for


@click.command(
    epilog="Example: snakka consume orders -o -10 -e -f '%p %o %k: %v\\n'",
    context_settings={"show_default": True},
)
@click.argument(
    "places", nargs=-1, required=True, callback=parsed(parse_place), metavar="TOPIC[:PARTITION]..."
)
@click.option(
    "-o",
    "--offset",
    "start",
    callback=parsed(parse_start),
    metavar="OFFSET",
    default="end",
    help="start, end, N, -N (that many before the end), or @TIME: milliseconds or ISO 8601.",
)
@click.option("-n", "--count", type=click.IntRange(min=1), help="Stop after so many records.")
@click.option("-e", "--exit", "exits", is_flag=True, help="Stop at what is the end at first.")
@click.option("-g", "--group", help="Join this group; -o counts where it has no position.")
@click.option(
    "-f",
    "--format",
    "write",
    callback=parsed(compile_format),
    metavar="FORMAT",
    default=_VALUE_PER_LINE,
    help=HELP,
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document per line.")
@click.option("--committed", is_flag=True, help="Not what is in aborted or open transactions.")
@on_cluster
async def consume(
    cluster: Cluster,
    places: tuple[tuple[str, int | None], ...],
    start: StartAt,
    group: str | None,
    write: Write,
    as_json: bool,
    committed: bool,
    **until: Any,
) -> None:
    """Read records to standard output."""
    isolation = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    settings = ConsumerSettings(
        group_id=group,
        enable_auto_commit=group is not None,
        auto_offset_reset=_reset(start, group),
        isolation_level=isolation,
    )
    partitions = await _partitions(cluster, places)
    output = _Output(write_json if as_json else write, until["count"])
    async with Consumer(cluster, settings) as consumer:
        ends: dict[TopicPartition, int] | None = None
        if until["exits"]:
            ends = await _offsets(cluster, partitions, StartAt(LATEST), isolation)
        if group is not None:
            if any(partition is not None for _, partition in places):
                raise click.UsageError("a group assigns partitions itself: give topics only")
            consumer.subscribe(sorted({topic for topic, _ in places}))
        else:
            positions = await _offsets(cluster, partitions, start, isolation)
            consumer.assign(partitions)
            for partition, offset in positions.items():
                consumer.seek(partition, offset)
        await _copy(consumer, output, ends)


async def _copy(
    consumer: Consumer, output: "_Output", ends: Mapping[TopicPartition, int] | None
) -> None:
    while not output.is_full and not _is_at(ends, consumer):
        # Where the end is awaited, it is looked for although nothing comes: it may be behind
        # the last record, where a transaction has its marker.
        for fetched in await consumer.poll(None if ends is None else _POLL_MS):
            end = None if ends is None else ends.get(fetched.partition, 0)
            after = output.put(fetched.records(), end)
            if after is not None:
                consumer.seek(fetched.partition, after)
        output.flush()


def _is_at(ends: Mapping[TopicPartition, int] | None, consumer: Consumer) -> bool:
    """Whether all that was there at first has been read, as far as it is this consumer's."""
    if ends is None:
        return False
    mine = consumer.assignment
    if not mine:
        return all(end == 0 for end in ends.values())
    positions = consumer.positions()
    return all(
        each in positions and positions[each].offset >= ends[each] for each in mine if each in ends
    )


class _Output:
    """Standard output, written once per fetch."""

    def __init__(self, write: Write, count: int | None) -> None:
        self._write = write
        self._left = count
        self._pending = bytearray()

    @property
    def is_full(self) -> bool:
        return self._left == 0

    def put(self, records: Iterable[ConsumedRecord], end: int | None) -> int | None:
        """Writes these up to `end` or to the count; where to go on, if not after all of them."""
        for record in records:
            if self.is_full or (end is not None and record.offset >= end):
                return record.offset
            self._pending += self._write(record)
            if self._left is not None:
                self._left -= 1
        return None

    def flush(self) -> None:
        rest = bytes(self._pending)
        while rest:  # PYTHONUNBUFFERED leaves no buffer here that would write all of it
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
        self._pending.clear()


def _reset(start: StartAt, group: str | None) -> OffsetReset:
    if start.timestamp_ms == LATEST and not start.shift:
        return OffsetReset.LATEST
    if group is not None and start.timestamp_ms != EARLIEST:
        raise click.UsageError("with a group -o is start or end")
    return OffsetReset.EARLIEST


async def _partitions(
    cluster: Cluster, places: Iterable[tuple[str, int | None]]
) -> list[TopicPartition]:
    wanted = list(places)
    await cluster.refresh({topic for topic, _ in wanted})
    found = []
    for name, index in wanted:
        topic = cluster.metadata.topics.get(name)
        if topic is None or (index is not None and index not in topic.partitions):
            code = cluster.metadata.refusals.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            place = name if index is None else f"{name}:{index}"
            refuse(f"{place}: {kafka_error(code)}")
        indexes = topic.partitions if index is None else [index]
        found += [TopicPartition(name, each) for each in indexes]
    return found


async def _offsets(
    cluster: Cluster,
    partitions: Iterable[TopicPartition],
    start: StartAt,
    isolation: IsolationLevel,
) -> dict[TopicPartition, int]:
    """Where to begin in each partition, within what it has."""
    wanted = list(partitions)

    async def ask(timestamp_ms: int) -> dict[TopicPartition, int]:
        found = await list_offsets(cluster, dict.fromkeys(wanted, timestamp_ms), isolation)
        return {partition: each.offset for partition, each in found.items()}

    if not start.shift:
        found = await ask(start.timestamp_ms)
        ends = await ask(LATEST) if _NOT_FOUND in found.values() else found
        return {each: ends[each] if found[each] == _NOT_FOUND else found[each] for each in wanted}
    firsts, ends = await ask(EARLIEST), await ask(LATEST)
    base = ends if start.timestamp_ms == LATEST else dict.fromkeys(wanted, 0)
    return {each: min(max(base[each] + start.shift, firsts[each]), ends[each]) for each in wanted}
