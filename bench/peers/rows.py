"""The table of what is measured: each row a load, its figures, and its place on a curve.

A load takes a few seconds at scale 1. `because` is why a figure falls short of its goal, and is
told where it does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.peers import figures as f
from bench.peers.figures import Figure
from bench.peers.lifecycle import Connections, Partitions, Restart, Start
from bench.peers.loads import (
    Consume,
    ConsumeCold,
    EndToEnd,
    Installed,
    JavaProduce,
    Load,
    Peak,
    RawFetch,
    RawFlushed,
    RawProduce,
    Rdkafka,
)
from bench.peers.peer import Peer


@dataclass(frozen=True, slots=True)
class Row:
    family: str
    name: str
    load: Load
    figures: tuple[Figure, ...]
    at: float | None = None  # where it stands on the curve of its family
    because: Mapping[str, str] = field(default_factory=dict)  # by the figure's key

    @property
    def title(self) -> str:
        return f"{self.family}: {self.name}"

    def takes(self, peer: Peer) -> bool:
        if not peer.is_broker and not self.load.for_raw:
            return False
        if peer.has_fixed_ports and self.load.starts_another:
            return False
        return peer.keeps_files or not self.load.needs_files


LEADER: Final = ("acks=1",)
ALL: Final = ("acks=all",)
TUNED: Final = ("batch.size=262144", "linger.ms=10", "buffer.memory=67108864")
LARGE: Final = ("batch.size=1048576", "buffer.memory=67108864", "max.request.size=2097152")
AT_ONCE: Final = ("p.linger.ms=0", "acks=all")
GB: Final = 10**9

_THREAD: Final = (
    "One thread checks, indexes and accounts for what the loop only passes on; the processor time "
    "of the same row says how much that is."
)
_SENDFILE: Final = (
    "Of a MiB 180 us are sendfile's and 77 us Python's, between one answer and the next; without "
    "any Python it would be 0.85."
)
_SMALL: Final = (
    "A request is three system calls and 25 us of Python, on one thread; to go further would take "
    "a compiled path for Produce."
)
_CLIENT: Final = "The broker waits for the client at least half of the time."
_INTERPRETER: Final = (
    "The interpreter, its libraries and Snakka's own code take 34 MiB before a broker is made of "
    "them."
)

_SPEED: Final = (f.THROUGHPUT, f.CPU)
_LATENCY: Final = (f.P50, f.P99, f.P999)

PRODUCE: Final = (
    Row("produce, Java", "100 B, acks=1", JavaProduce(100, 1_500_000, LEADER), _SPEED),
    Row("produce, Java", "1 KiB, acks=1", JavaProduce(1024, 500_000, LEADER), _SPEED),
    Row("produce, Java", "1 KiB, acks=all", JavaProduce(1024, 500_000), _SPEED),
    Row("produce, Java", "1 KiB, tuned", JavaProduce(1024, 800_000, (*ALL, *TUNED)), _SPEED),
    Row(
        *("produce, Java", "1 KiB, tuned, lz4"),
        JavaProduce(1024, 500_000, (*ALL, *TUNED, "compression.type=lz4")),
        _SPEED,
    ),
    Row(
        *("produce, Java", "1 KiB, tuned, zstd"),
        JavaProduce(1024, 300_000, (*ALL, *TUNED, "compression.type=zstd")),
        _SPEED,
    ),
    Row("produce, Java", "100 KiB, acks=all", JavaProduce(102_400, 8_000, (*ALL, *LARGE)), _SPEED),
    Row("produce, Java", "1 KiB, 1 partition", JavaProduce(1024, 500_000, partitions=1), _SPEED),
    Row(
        *("produce, Java", "1 KiB, 1,000 partitions"),
        JavaProduce(1024, 400_000, partitions=1000),
        _SPEED,
    ),
    Row(
        *("produce, librdkafka", "100 B, acks=1"),
        Rdkafka("produce", 100, 3_000_000, (*LEADER, "linger.ms=5")),
        _SPEED,
    ),
    Row(
        *("produce, librdkafka", "1 KiB, acks=1"),
        Rdkafka("produce", 1024, 800_000, (*LEADER, "linger.ms=5")),
        _SPEED,
    ),
    Row(
        *("produce, librdkafka", "1 KiB, idempotent"),
        Rdkafka("produce", 1024, 800_000, ("enable.idempotence=true", "linger.ms=5")),
        _SPEED,
    ),
    Row(
        *("produce, librdkafka", "1 KiB, 16 KB batches"),
        Rdkafka("produce", 1024, 500_000, (*ALL, "batch.size=16384")),
        _SPEED,
    ),
)

CONSUME: Final = (
    *(
        Row("consume", name, load, _SPEED, because={"mb_per_s": _CLIENT})
        for name, load in (
            ("Java, 1 KiB, hot", Consume(1024, 800_000, client="java")),
            ("librdkafka, 100 B, hot", Consume(100, 3_000_000)),
            ("librdkafka, 1 KiB, hot", Consume(1024, 800_000)),
            ("librdkafka, 1 KiB, cold", ConsumeCold(1024, 800_000)),
            (
                "librdkafka, 1 KiB, lz4",
                Consume(1024, 800_000, write_properties=("compression.type=lz4",)),
            ),
        )
    ),
    Row("consume", "written and read by 4", Rdkafka("fan_out", 1024, 300_000, rate=4), _SPEED),
)

LATENCY: Final = (
    Row(
        *("latency", "end to end, 1,000 records/s"),
        Rdkafka("latency", 1024, 5_000, AT_ONCE, partitions=1, rate=1_000),
        (*_LATENCY, f.CPU),
    ),
    Row(
        *("latency", "end to end, 20,000 records/s"),
        Rdkafka("latency", 1024, 80_000, AT_ONCE, partitions=12, rate=20_000),
        (*_LATENCY, f.CPU),
    ),
    Row("latency", "one record there and back, Java", EndToEnd(3_000), _LATENCY),
    Row(
        *("latency", "one record after the other"),
        Rdkafka("sync", 100, 10_000, AT_ONCE, partitions=1),
        (f.RECORDS, f.P50, f.P99),
        because={"records_per_s": _SMALL},
    ),
    Row(
        *("latency", "transactions of one record"),
        Rdkafka("transactions", 100, 1_000, ("transactional.id=bench", *AT_ONCE)),
        (f.TRANSACTIONS, f.P50, f.P99),
    ),
    Row(
        *("latency", "flushed one by one, 64 producers"),
        RawFlushed(100, 1, 64, 1, partitions=6, config=(("flush.messages", "1"),)),
        (f.REQUESTS, f.P50, f.P99),
        because={"requests_per_s": _SMALL, "p99_ms": _SMALL},
    ),
    Row(
        *("latency", "a group of 50 until it is stable"),
        Rdkafka("group", 100, 50, ("group.id=bench",), partitions=100),
        (f.SECONDS,),
    ),
)

LIMITS: Final = (
    Row(
        *("physical limit", "produce, 1 MB requests"),
        RawProduce(1_000_000, 1000),
        (f.RAW_PRODUCE, f.CPU_REQUEST),
        because={"mb_per_s": _THREAD},
    ),
    Row(
        *("physical limit", "produce, 16 KB requests"),
        RawProduce(16_000, 16),
        (f.RAW_PRODUCE, f.CPU_REQUEST),
        because={"mb_per_s": _THREAD},
    ),
    Row(
        *("physical limit", "produce, 100 B requests, 50 connections"),
        RawProduce(100, 1, 50, 1, partitions=12),
        (f.REQUESTS, f.CPU_REQUEST, f.P99),
        because={"requests_per_s": _SMALL, "cpu_us_per_request": _SMALL, "p99_ms": _SMALL},
    ),
    Row(
        *("physical limit", "consume, 1 MiB answers"),
        RawFetch(),
        (f.RAW_CONSUME, f.CPU_REQUEST),
        because={"mb_per_s": _SENDFILE},
    ),
)

GROWTH: Final = (
    *(
        Row(
            "partitions",
            f"{count:,}",
            Partitions(count),
            (f.CREATE, f.METADATA, f.PRODUCE, f.FETCH, f.MEMORY, f.RESTART),
            at=count,
            because={"mib": _INTERPRETER},
        )
        for count in (10, 1_000, 10_000)
    ),
    *(
        Row("connections", f"{count:,}", Connections(count), (f.MEMORY, f.P99), at=count)
        for count in (1_000, 5_000)
    ),
    *(
        Row(
            "record size",
            f"{size:,} B",
            Rdkafka("produce", size, min(2_000_000, 400 * 1024**2 // size), ("linger.ms=5",)),
            _SPEED,
            at=size,
        )
        for size in (10, 100, 1_000, 10_000, 100_000)
    ),
    *(
        Row("log after SIGKILL", f"{size} GB", Restart(size * GB, True), (f.SECONDS,), at=size)
        for size in (1, 3, 10)
    ),
)

WHOLE: Final = (
    Row(
        *("broker", "start to the first record acknowledged, then idle"),
        Start(),
        (f.START, f.MEMORY),
        because={"mib": _INTERPRETER},
    ),
    Row("broker", "restart on 3 GB after a stop", Restart(3 * GB, killed=False), (f.SECONDS,)),
    Row("broker", "installed, without Python or Java", Installed(), (f.DISK,)),
    Row("broker", "the most memory in all rows above", Peak(), (f.MEMORY,)),
)

ROWS: Final = (*PRODUCE, *CONSUME, *LATENCY, *LIMITS, *GROWTH, *WHOLE)


def matching(words: Sequence[str], without: Sequence[str] = ()) -> Iterator[Row]:
    """Those whose title has one of the words in it, or all; but for those with one of `without`."""
    for row in ROWS:
        title = row.title.lower()
        is_wanted = not words or any(word.lower() in title for word in words)
        if is_wanted and not any(word.lower() in title for word in without):
            yield row
