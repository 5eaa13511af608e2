"""The programs that make load: Kafka's own tools, librdkafka, and the raw loop; what they tell.

Each runs in a process of its own, so that a broker shares nothing with it but the machine.
"""

import json
import re
import subprocess
from collections.abc import Sequence
from typing import Final

from bench.peers.built import raw_loader, rdkafka
from bench.peers.running import Running
from tests.compat.java_oracle import classpath

TIMEOUT_S: Final = 300
# As kafka-run-class.sh sets them for tools, but for the heap: 256 MiB limit large batches.
_JVM: Final = ("-Xmx512m", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")
_PRODUCED: Final = re.compile(
    r"([\d.]+) records/sec \(([\d.]+) MB/sec\), .*?(\d+) ms 50th, \d+ ms 95th, "
    r"(\d+) ms 99th, (\d+) ms 99.9th"
)
_ROUND_TRIPS: Final = re.compile(r"50th = (\d+), 99th = (\d+), 99.9th = (\d+)")

Figures = dict[str, float]


class LoadError(Exception):
    """A program did not get through, and what it said last."""


def producer_performance(
    broker: Running, topic: str, size: int, count: int, warm_up: int, properties: Sequence[str]
) -> Figures:
    text = _java(
        "ProducerPerformance",
        *("--bootstrap-server", broker.bootstrap, "--topic", topic),
        *("--record-size", str(size), "--num-records", str(count + warm_up)),
        *("--warmup-records", str(warm_up), "--throughput", "-1"),
        *("--command-property", *properties),
    )
    rate, mib, p50, p99, p999 = map(float, _PRODUCED.findall(text)[-1])
    return {
        "records_per_s": rate,
        "mb_per_s": mib * 1.048576,
        "p50_ms": p50,
        "p99_ms": p99,
        "p999_ms": p999,
    }


def consumer_performance(broker: Running, topic: str, count: int) -> Figures:
    text = _java(
        "ConsumerPerformance",
        *("--bootstrap-server", broker.bootstrap, "--topic", topic),
        *("--num-records", str(count), "--timeout", "60000", "--hide-header"),
    )
    last = [line for line in text.splitlines() if line.count(",") == 9][-1].split(", ")
    return {"records_per_s": float(last[9]), "mb_per_s": float(last[8]) * 1.048576}


def end_to_end_latency(broker: Running, topic: str, size: int, count: int) -> Figures:
    words = (broker.bootstrap, topic, str(count), "all", str(size))
    found = _ROUND_TRIPS.search(_java("EndToEndLatency", *words))
    if found is None:
        raise LoadError("EndToEndLatency tells no percentiles")
    return {
        f"p{name}_ms": float(each) for name, each in zip((50, 99, 999), found.groups(), strict=True)
    }


def librdkafka(
    mode: str,
    broker: Running,
    topic: str,
    partitions: int,
    *numbers: int,
    properties: Sequence[str] = (),
) -> Figures:
    """A mode of rdkafka.c; numbers are the size of a record, how many, and a rate."""
    words = [mode, broker.bootstrap, topic, str(partitions), *map(str, numbers)]
    return _json(str(rdkafka()), *words, "log_level=0", *properties)


def raw(mode: str, broker: Running, topic: str, *numbers: float) -> Figures:
    """A mode of raw/load.c, whose head says which numbers it takes."""
    return _json(str(raw_loader()), mode, str(broker.port), topic, *map(str, numbers))


def _json(*command: str) -> Figures:
    told: Figures = json.loads(_run(command))
    return told


def _java(tool: str, *words: str) -> str:
    return _run(("java", *_JVM, "-cp", classpath(), f"org.apache.kafka.tools.{tool}", *words))


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise LoadError(f"not done in {TIMEOUT_S} s") from error
    if done.returncode:
        said = [each for each in (done.stderr + done.stdout).splitlines() if each.strip()]
        raise LoadError(said[-1][:200] if said else f"status {done.returncode}")
    return done.stdout
