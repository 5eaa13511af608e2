"""How fast records are decoded, next to kafka-python and aiokafka.

All read the same bytes: records of 100 bytes in batches of 1 MB and of 16 KB, and in compressed
ones of 1 MB, whose decompression is then part of what is timed. Every reader touches every record;
checksums are left out. The columns are built over all batches, as a Spark reader does.

How to read it: million records a second on one core, of the fastest round; below it, the rate over
that of kafka-python. aiokafka's reader is compiled, and makes an object of every record.

Goals: 10 million a second for the compiled columns over 1 MB batches, and not below kafka-python
for the record iterator and the columns in pure Python.
"""

import argparse
import importlib.metadata
import json
import platform
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords
from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords

from bench.timing import time_in_turns
from snakka.protocol.records import _columns, _columns_python
from snakka.protocol.records.arrow import to_record_batch
from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.columns import decode_columns
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.record import Record

RECORD_BYTES: Final = 100
TOTAL_BYTES: Final = 4_000_000
BASE: Final = "kafka-python"

Reader = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Workload:
    """The same records, packed in one way."""

    batch_bytes: int
    codec: Compression

    @property
    def name(self) -> str:
        size = f"{self.batch_bytes // 1000} KB"
        return size if self.codec is Compression.NONE else f"{size} {self.codec.name.lower()}"

    @property
    def record_count(self) -> int:
        return self._batch_count * self._records_per_batch

    @property
    def _batch_count(self) -> int:
        return TOTAL_BYTES // self.batch_bytes

    @property
    def _records_per_batch(self) -> int:
        return self.batch_bytes // RECORD_BYTES

    def data(self) -> bytes:
        """The batches in a row; half of every value is noise, which does not compress."""
        noise = random.Random(1)
        size = self._records_per_batch
        return b"".join(
            build_batch(
                [
                    Record(
                        offset=batch * size + index,
                        timestamp_ms=1_700_000_000_000 + index // 10,
                        key=b"%08d" % index,
                        value=b'{"user":"somebody","page":"/a/page"}:   ' + noise.randbytes(43),
                    )
                    for index in range(size)
                ],
                compression=self.codec,
            )
            for batch in range(self._batch_count)
        )


WORKLOADS: Final = (
    Workload(1_000_000, Compression.NONE),
    Workload(16_000, Compression.NONE),
    *(Workload(1_000_000, codec) for codec in Compression if codec is not Compression.NONE),
)


def read_columns(twin: Any, data: bytes) -> None:
    for _ in decode_columns(batches(data), builder=twin.ColumnsBuilder()):
        pass


def read_arrow(data: bytes) -> None:
    for columns in decode_columns(batches(data)):
        to_record_batch(columns)


def read_keys(twin: Any, data: bytes) -> None:
    for batch in batches(data):
        for _ in twin.scan_keys(batch.header, batch.section()):
            pass


def read_records(data: bytes) -> None:
    for batch in batches(data):
        for _ in batch.records():
            pass


def read_kafka_python(data: bytes) -> None:
    for batch in KafkaPythonRecords(data):
        for _ in batch:
            pass


def read_aiokafka(data: bytes) -> None:
    records = AiokafkaRecords(data)
    while records.has_next():
        for _ in records.next_batch():
            pass


READERS: Final[dict[str, Reader]] = {
    "columns": partial(read_columns, _columns),
    "to Arrow": read_arrow,
    "keys": partial(read_keys, _columns),
    "py columns": partial(read_columns, _columns_python),
    "py keys": partial(read_keys, _columns_python),
    "py records": read_records,
    BASE: read_kafka_python,
    "aiokafka": read_aiokafka,
}


@dataclass(frozen=True, slots=True)
class Row:
    """Records a second, by reader."""

    workload: Workload
    rates: dict[str, float]

    @property
    def ratios(self) -> dict[str, float]:
        return {name: rate / self.rates[BASE] for name, rate in self.rates.items()}


def measure(workload: Workload, rounds: int) -> Row:
    data = workload.data()
    seconds = time_in_turns({name: partial(read, data) for name, read in READERS.items()}, rounds)
    return Row(workload, {name: workload.record_count / each for name, each in seconds.items()})


def table(rows: list[Row]) -> Iterator[str]:
    yield f"{'batches of':<13}" + "".join(f"{name:>13}" for name in READERS)
    for row in rows:
        rates = (f"{rate / 1e6:.2f} M/s" for rate in row.rates.values())
        ratios = (f"{ratio:.1f} x" for ratio in row.ratios.values())
        yield f"{row.workload.name:<13}" + "".join(f"{each:>13}" for each in rates)
        yield f"{'':<13}" + "".join(f"{each:>13}" for each in ratios)


def as_json(rows: list[Row], rounds: int) -> str:
    report = {
        "python": platform.python_version(),
        "releases": {
            name: importlib.metadata.version(name)
            for name in ("snakka", "kafka-python", "aiokafka", "cramjam", "pyarrow")
        },
        "rounds": rounds,
        "record_bytes": RECORD_BYTES,
        "rows": [
            {
                "batch_bytes": row.workload.batch_bytes,
                "codec": row.workload.codec.name.lower(),
                "records_per_second": {name: round(rate) for name, rate in row.rates.items()},
                "ratios": {name: round(ratio, 2) for name, ratio in row.ratios.items()},
            }
            for row in rows
        ],
    }
    return json.dumps(report, indent=2)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.columns",
        description=__doc__,
        epilog="example: python -m bench.columns --rounds 3 --json > columns.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=10, help="turns of each reader (10)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = []
    for workload in WORKLOADS:
        print(f"batches of {workload.name}", file=sys.stderr)
        rows.append(measure(workload, options.rounds))
    print(as_json(rows, options.rounds) if options.json else "\n".join(table(rows)))


if __name__ == "__main__":
    main()
