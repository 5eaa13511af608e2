"""How fast messages are decoded and encoded, next to kio, kafka-python and aiokafka.

Every message is taken in two versions: the newest that all four speak, and the newest that there
is, which aiokafka lacks. All sides decode the same bytes, ours; each encodes what its own decoder
made of them, and we have to read the original value from that before anything is timed.

How to read it: microseconds per message, of the fastest round. The ratio is the time of the fastest
peer over ours: above 1 we are the faster ones. Where a peer has no such version it says `none`.
A call is what a user of the library would write, from bytes to value and back, without frames and
headers. kio's decoder is compiled; the others are Python.

Goals: a geometric mean of 2.5 over all rows and of 5 over the encode rows, no row below 0.8.
"""

import argparse
import importlib
import importlib.metadata
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Final

from kio.serial import entity_reader, entity_writer

from bench.timing import geometric_mean, time_in_turns
from snakka.protocol import codec
from snakka.protocol.messages import fetch, metadata, produce
from snakka.protocol.schema import Message
from snakka.protocol.types import Uuid

OURS: Final = "snakka"
OPERATIONS: Final = ("decode", "encode")
RECORDS: Final = bytes(range(256)) * 4
TOPIC: Final = "page-views"
TOPIC_ID: Final = Uuid(bytes(range(16)))


@dataclass(frozen=True, slots=True)
class Workload:
    """One message in one version."""

    value: Message
    version: int
    partitions: int

    @property
    def message(self) -> str:
        return type(self.value).__name__

    @property
    def api(self) -> str:
        return self.message.removesuffix("Request").removesuffix("Response").lower()


@dataclass(frozen=True, slots=True)
class Codec:
    """How one library reads a message and writes it."""

    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes | bytearray]
    complete: Callable[[Any], None] = lambda value: None  # what encode needs of a decoded value


@dataclass(frozen=True, slots=True)
class Row:
    """What one operation took, by library; None where a library has no such version."""

    workload: Workload
    operation: str
    seconds: dict[str, float | None]

    @property
    def ratio(self) -> float:
        ours = self.seconds[OURS]
        peers = [each for name, each in self.seconds.items() if name != OURS and each is not None]
        assert ours is not None
        return min(peers) / ours

    def as_json(self) -> dict[str, Any]:
        return {
            "message": self.workload.message,
            "version": self.workload.version,
            "partitions": self.workload.partitions,
            "operation": self.operation,
            "us": {name: each and round(each * 1e6, 3) for name, each in self.seconds.items()},
            "ratio": round(self.ratio, 3),
        }


def produce_request(partitions: int) -> Message:
    data = [produce.PartitionProduceData(index=i, records=RECORDS) for i in range(partitions)]
    topic = produce.TopicProduceData(name=TOPIC, topic_id=TOPIC_ID, partition_data=data)
    return produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def produce_response(partitions: int) -> Message:
    data = [
        produce.PartitionProduceResponse(
            index=i, error_code=0, base_offset=1_000_000 + i, log_start_offset=1_000
        )
        for i in range(partitions)
    ]
    topic = produce.TopicProduceResponse(name=TOPIC, topic_id=TOPIC_ID, partition_responses=data)
    return produce.ProduceResponse(responses=[topic], throttle_time_ms=7)


def fetch_request(partitions: int) -> Message:
    data = [
        fetch.FetchPartition(
            partition=i, current_leader_epoch=3, fetch_offset=1_000 + i, partition_max_bytes=1 << 20
        )
        for i in range(partitions)
    ]
    topic = fetch.FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=data)
    return fetch.FetchRequest(
        max_wait_ms=500, min_bytes=1, session_id=5, session_epoch=6, topics=[topic], rack_id="a"
    )


def fetch_response(partitions: int) -> Message:
    data = [
        fetch.PartitionData(
            partition_index=i,
            error_code=0,
            high_watermark=1_000_000 + i,
            last_stable_offset=1_000_000 + i,
            log_start_offset=1_000,
            aborted_transactions=[],
            records=RECORDS,
        )
        for i in range(partitions)
    ]
    topic = fetch.FetchableTopicResponse(topic=TOPIC, topic_id=TOPIC_ID, partitions=data)
    return fetch.FetchResponse(throttle_time_ms=7, session_id=5, responses=[topic])


def metadata_response(partitions: int) -> Message:
    data = [
        metadata.MetadataResponsePartition(
            error_code=0,
            partition_index=i,
            leader_id=i % 3,
            leader_epoch=3,
            replica_nodes=[0, 1, 2],
            isr_nodes=[0, 1],
        )
        for i in range(partitions)
    ]
    brokers = [
        metadata.MetadataResponseBroker(node_id=i, host=f"broker-{i}.example.com", port=9092)
        for i in range(3)
    ]
    topic = metadata.MetadataResponseTopic(
        error_code=0, name=TOPIC, topic_id=TOPIC_ID, partitions=data
    )
    return metadata.MetadataResponse(brokers=brokers, cluster_id="c", topics=[topic])


def workloads() -> Iterator[Workload]:
    for make, versions, sizes in (
        (produce_request, (8, 13), (1, 10)),
        (produce_response, (8, 13), (1, 10)),
        (fetch_request, (11, 18), (1, 100, 1_000)),
        (fetch_response, (11, 18), (1, 100, 1_000)),
        (metadata_response, (5, 13), (1_000,)),
    ):
        for version in versions:
            for size in sizes:
                yield Workload(make(size), version, size)


def our_codec(workload: Workload) -> Codec:
    version = workload.version
    return Codec(
        partial(codec.decode, type(workload.value), version),
        lambda value: codec.encode(value, version),
    )


def kio_codec(workload: Workload) -> Codec:
    path = f"{workload.api}.v{workload.version}.{workload.message.lower()[len(workload.api) :]}"
    module = importlib.import_module(f"kio.schema.{path}")
    read = entity_reader(getattr(module, workload.message))
    write = entity_writer(getattr(module, workload.message))

    def encode(value: Any) -> bytes:
        out = BytesIO()
        write(out, value)
        return out.getvalue()

    return Codec(lambda data: read(data, 0)[0], encode)


def kafka_python_codec(workload: Workload) -> Codec:
    package = {"produce": "producer", "fetch": "consumer", "metadata": "metadata"}[workload.api]
    module = importlib.import_module(f"kafka.protocol.{package}")
    message = getattr(module, workload.message)
    version = workload.version
    return Codec(
        lambda data: message.decode(data, version=version),
        lambda value: value.encode(version=version),
        lambda value: setattr(value, "_header", None),  # unset, which only encode minds
    )


def aiokafka_codec(workload: Workload) -> Codec | None:
    module = importlib.import_module(f"aiokafka.protocol.{workload.api}")
    message = getattr(module, f"{workload.message}_v{workload.version}", None)
    return message and Codec(message.decode, message.encode)


LIBRARIES: Final[dict[str, Callable[[Workload], Codec | None]]] = {
    OURS: our_codec,
    "kio": kio_codec,
    "kafka-python": kafka_python_codec,
    "aiokafka": aiokafka_codec,
}


def measure(workload: Workload, rounds: int) -> Iterator[Row]:
    """The decode row and the encode row of a message."""
    data = bytes(codec.encode(workload.value, workload.version))
    decodes, encodes = {}, {}
    for name, find in LIBRARIES.items():
        if each := find(workload):
            value = each.decode(data)
            each.complete(value)
            check_same(workload, name, data, each.encode(value))
            decodes[name] = partial(each.decode, data)
            encodes[name] = partial(each.encode, value)
    for operation, calls in zip(OPERATIONS, (decodes, encodes), strict=True):
        seconds = time_in_turns(calls, rounds)
        yield Row(workload, operation, {name: seconds.get(name) for name in LIBRARIES})


def check_same(workload: Workload, name: str, ours: bytes, theirs: bytes | bytearray) -> None:
    """Whether a library understood our bytes, and we understand its."""
    message, version = type(workload.value), workload.version
    if codec.decode(message, version, theirs) != codec.decode(message, version, ours):
        raise AssertionError(f"{name} writes another {workload.message} v{version} than it read")


def summary(rows: list[Row]) -> dict[str, float]:
    """The geometric means of the ratios, and the worst of them."""
    of = {name: [row.ratio for row in rows if row.operation == name] for name in OPERATIONS}
    means = {f"{name} rows": geometric_mean(ratios) for name, ratios in of.items()}
    every = [row.ratio for row in rows]
    return {"all rows": geometric_mean(every), **means, "worst row": min(every)}


def table(rows: list[Row]) -> Iterator[str]:
    yield f"{'message':<21} {'partitions':>10} {'':<6} " + " ".join(
        f"{name:>12}" for name in (*LIBRARIES, "ratio")
    )
    for row in rows:
        message = f"{row.workload.message} v{row.workload.version}"
        times = ("none" if each is None else f"{each * 1e6:.2f}" for each in row.seconds.values())
        yield f"{message:<21} {row.workload.partitions:>10} {row.operation:<6} " + " ".join(
            f"{each:>12}" for each in (*times, f"{row.ratio:.2f}")
        )
    yield "\nfastest peer / snakka: " + ", ".join(
        f"{name} {ratio:.2f}" for name, ratio in summary(rows).items()
    )


def as_json(rows: list[Row], rounds: int) -> str:
    report = {
        "python": platform.python_version(),
        "releases": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "rounds": rounds,
        "rows": [row.as_json() for row in rows],
        "ratios": {name: round(ratio, 3) for name, ratio in summary(rows).items()},
    }
    return json.dumps(report, indent=2)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.codec",
        description=__doc__,
        epilog="example: python -m bench.codec --rounds 10 --json > codec.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=30, help="turns of each library (30)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows: list[Row] = []
    for workload in workloads():
        print(f"{workload.message} v{workload.version}, {workload.partitions}", file=sys.stderr)
        rows += measure(workload, options.rounds)
    print(as_json(rows, options.rounds) if options.json else "\n".join(table(rows)))


if __name__ == "__main__":
    main()
