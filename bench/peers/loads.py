"""Loads on a broker that runs: what is done to it, and the figures that come of it.

A load makes a topic of its own, and the topic goes when it is done. `scale` makes all of them
shorter. Not here: loads that begin with a broker of their own (lifecycle.py), the table (rows.py).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from bench.peers import programs
from bench.peers.programs import Figures
from bench.peers.running import Running, forget_cached
from bench.peers.topics import topic

RAW_FETCH_RECORDS: Final = 64
_AT_LEAST: Final = 1000
_CONSUME_SCALE_MIN: Final = 0.5  # less than that fits into a client's first answers


class Load(Protocol):
    needs_files: ClassVar[bool]  # of peers that keep what they are given in files
    for_raw: ClassVar[bool]  # the raw loop can take it, too
    starts_another: ClassVar[bool]  # beside the one that runs

    def run(self, broker: Running, scale: float) -> Figures: ...


class OnBroker:
    needs_files: ClassVar[bool] = False
    for_raw: ClassVar[bool] = False
    starts_another: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class JavaProduce(OnBroker):
    """ProducerPerformance, of whose records a fifth warms it up."""

    size: int
    count: int
    properties: tuple[str, ...] = ("acks=all",)
    partitions: int = 12

    def run(self, broker: Running, scale: float) -> Figures:
        count = scaled(self.count, scale)
        warm_up = count // 4
        with topic(broker, self.partitions) as name:
            return with_cpu(
                broker,
                count + warm_up,
                lambda: programs.producer_performance(
                    broker, name, self.size, count, warm_up, self.properties
                ),
            )


@dataclass(frozen=True, slots=True)
class Rdkafka(OnBroker):
    """A mode of rdkafka.c that writes what it reads, if it reads any."""

    mode: str
    size: int
    count: int
    properties: tuple[str, ...] = ()
    partitions: int = 12
    rate: int = 0

    def run(self, broker: Running, scale: float) -> Figures:
        count = scaled(self.count, scale)
        with topic(broker, self.partitions) as name:
            return with_cpu(
                broker,
                count,
                lambda: programs.librdkafka(
                    *(self.mode, broker, name, self.partitions, self.size, count, self.rate),
                    properties=self.properties,
                ),
            )


@dataclass(frozen=True, slots=True)
class Consume(OnBroker):
    """From the beginning of a topic that was just written, by one of the two clients."""

    size: int
    count: int
    client: str = "librdkafka"
    partitions: int = 12
    properties: tuple[str, ...] = ()
    write_properties: tuple[str, ...] = ()

    def run(self, broker: Running, scale: float) -> Figures:
        count = scaled(self.count, max(scale, _CONSUME_SCALE_MIN))
        with self._written(broker, count) as name:
            return with_cpu(broker, count, lambda: self._read(broker, name, count))

    @contextmanager
    def _written(self, broker: Running, count: int) -> Iterator[str]:
        with topic(broker, self.partitions) as name:
            programs.librdkafka(
                *("produce", broker, name, self.partitions, self.size, count, 0),
                properties=self.write_properties,
            )
            yield name

    def _read(self, broker: Running, name: str, count: int) -> Figures:
        if self.client == "java":
            return programs.consumer_performance(broker, name, count)
        return programs.librdkafka(
            *("consume", broker, name, self.partitions, self.size, count, 0),
            properties=self.properties,
        )


@dataclass(frozen=True, slots=True)
class ConsumeCold(Consume):
    """The same when the files are no longer in memory."""

    needs_files: ClassVar[bool] = True

    def _read(self, broker: Running, name: str, count: int) -> Figures:
        forget_cached([each for each in broker.directory.rglob(f"{name}-*") if each.is_dir()])
        return Consume._read(self, broker, name, count)


@dataclass(frozen=True, slots=True)
class EndToEnd(OnBroker):
    """Kafka's EndToEndLatency: one record to the broker and back, then the next."""

    count: int
    size: int = 100

    def run(self, broker: Running, scale: float) -> Figures:
        count = scaled(self.count, scale)
        with topic(broker) as name:
            return programs.end_to_end_latency(broker, name, self.size, count)


@dataclass(frozen=True, slots=True)
class RawProduce(OnBroker):
    """Requests that were made beforehand, over so many connections."""

    for_raw: ClassVar[bool] = True

    batch_bytes: int
    records: int
    connections: int = 1
    inflight: int = 2
    partitions: int = 1
    seconds: float = 3
    config: tuple[tuple[str, str], ...] = ()

    def run(self, broker: Running, scale: float) -> Figures:
        with topic(broker, self.partitions, dict(self.config)) as name:
            return self.on(broker, name, scale)

    def on(self, broker: Running, name: str, scale: float) -> Figures:
        """On a topic that is there already."""
        seconds = max(0.3, self.seconds * scale)
        # A first one without the clock, for what comes up with a new topic.
        programs.raw("produce", broker, name, self.partitions, 0.1, self.partitions, 1, 100, 1)
        before = broker.cpu_s()
        figures = programs.raw(
            *("produce", broker, name, self.partitions, seconds, self.connections),
            *(self.inflight, self.batch_bytes, self.records),
        )
        requests = figures["requests_per_s"] * seconds
        return figures | {"cpu_us_per_request": (broker.cpu_s() - before) / requests * 1e6}


@dataclass(frozen=True, slots=True)
class RawFlushed(RawProduce):
    """The same where each of them is to be on disk, so not on those that keep nothing there."""

    needs_files: ClassVar[bool] = True
    for_raw: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class RawFetch(OnBroker):
    """Answers of a size, one after the other, from a topic that is in memory."""

    for_raw: ClassVar[bool] = True

    max_bytes: int = 1 << 20
    batch_bytes: int = 64 << 10
    mib: int = 96
    seconds: float = 3

    def run(self, broker: Running, scale: float) -> Figures:
        with topic(broker) as name:
            return self.on(broker, name, scale)

    def on(self, broker: Running, name: str, scale: float) -> Figures:
        """On a topic of one partition, which is written first."""
        written = 0.0
        while written < self.mib << 20:
            told = programs.raw(
                *("produce", broker, name, 1, 0.2, 1, 1, self.batch_bytes, RAW_FETCH_RECORDS)
            )
            written += told["mb_per_s"] * 1e6 * 0.2
        seconds = max(0.3, self.seconds * scale)
        step = self.max_bytes // (self.batch_bytes + 2048) * RAW_FETCH_RECORDS
        end = (self.mib << 20) // (self.batch_bytes + 2048) * RAW_FETCH_RECORDS - step
        before = broker.cpu_s()
        figures = programs.raw("fetch", broker, name, 1, seconds, 1, 1, self.max_bytes, step, end)
        requests = figures["requests_per_s"] * seconds
        return figures | {"cpu_us_per_request": (broker.cpu_s() - before) / requests * 1e6}


@dataclass(frozen=True, slots=True)
class Peak(OnBroker):
    """The most memory that the broker had since it started: what all rows before this one took."""

    for_raw: ClassVar[bool] = True

    def run(self, broker: Running, scale: float) -> Figures:
        return {"mib": broker.peak_mib()}


@dataclass(frozen=True, slots=True)
class Installed(OnBroker):
    for_raw: ClassVar[bool] = True

    def run(self, broker: Running, scale: float) -> Figures:
        return {"mib": broker.peer.installed_bytes() / 2**20}


def scaled(count: int, scale: float) -> int:
    return min(count, max(_AT_LEAST, round(count * scale)))


def with_cpu(broker: Running, count: int, load: Callable[[], Figures]) -> Figures:
    """Its figures, and what the broker's processor time for a million records comes to."""
    before = broker.cpu_s()
    figures = load()
    return figures | {"cpu_s_per_million": (broker.cpu_s() - before) / count * 1e6}
