"""Our compaction beside Apache Kafka's own `Cleaner`, pass by pass over the same log."""

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from snakka.protocol.records.batch import Batch
from snakka.protocol.records.compression import Compression
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.opening import Checkpointed
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram, classpath, require
from tests.storage.making import Harness, keyed

CONFIG = LogConfig(
    segment_bytes=2000,
    index_interval_bytes=200,
    segment_index_bytes=4000,
    is_compacted=True,
    retention_ms=-1,
    producer_id_expiration_ms=1 << 62,
)
NOW_MS = 1_800_000_000_000
CODECS = [Compression.NONE, Compression.GZIP, Compression.LZ4, Compression.ZSTD]


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "StorageOracle.java") as program:
        yield program


def opened(directory: Path) -> Harness:
    harness = Harness(LocalDisk(), CONFIG, str(directory), NOW_MS)
    harness.open(Checkpointed(is_clean=True))
    return harness


def write(directory: Path, seed: int) -> None:
    """Keys, tombstones, codecs, idempotent producers, transactions of either end, over segments."""
    rng = random.Random(seed)
    harness = opened(directory)
    sequences = dict.fromkeys(range(-1, 4), 0)
    is_open = dict.fromkeys(range(4), False)
    for n in range(150):
        producer = rng.randrange(-1, 4)
        records = [
            (b"k%d" % rng.randrange(25), rng.choice([None, b"value-%d" % n, b"x" * 40]))
            for _ in range(rng.randrange(1, 5))
        ]
        is_transactional = producer >= 2
        batch = keyed(
            *records,
            timestamp_ms=NOW_MS + n * 10,
            compression=rng.choice(CODECS),
            producer_id=producer,
            epoch=-1 if producer < 0 else 0,
            sequence=-1 if producer < 0 else sequences[producer],
            transactional=is_transactional,
        )
        sequences[producer] += len(records)
        harness.append(batch)
        if is_transactional:
            is_open[producer] = True
        if is_transactional and rng.random() < 0.4:
            harness.append_marker(producer, 0, commit=rng.random() < 0.5)
            is_open[producer] = False
    for producer, has_open in is_open.items():
        if has_open:
            harness.append_marker(producer, 0, commit=True)
    harness.log.roll(now_ms=NOW_MS)
    harness.log.shut_down()


def describe_batch(batch: Batch) -> tuple[object, ...]:
    """All but lengths, CRC and the base timestamp of batches where it is no horizon."""
    batch.verify_crc()
    header = batch.header
    return (
        header.base_offset,
        header.last_offset,
        header.leader_epoch,
        header.attributes,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.base_timestamp if header.has_delete_horizon else None,
        tuple(batch.records()) if header.record_count else (),
    )


def describe(directory: Path) -> tuple[object, ...]:
    harness = opened(directory)
    aborted = find_aborted_transactions(harness.log, 0, harness.log.log_end_offset)
    segments = [
        (segment.base_offset, segment.largest_timestamp) for segment in harness.log.segments
    ]
    return ([describe_batch(batch) for batch in harness.batches()], aborted, segments)


@pytest.mark.parametrize("seed", range(6))
def test_passes_leave_what_java_leaves(java: JavaProgram, tmp_path: Path, seed: int) -> None:
    ours, theirs = tmp_path / "t-0", tmp_path / "j" / "t-0"
    ours.mkdir()
    write(ours, seed)
    shutil.copytree(ours, theirs)
    first_dirty = 0
    for n in range(4):
        now_ms = NOW_MS + n * (CONFIG.delete_retention_ms // 2 + 1)
        answer = java.ask(f"compact {theirs} {first_dirty} {now_ms}")
        harness = opened(ours)
        harness.now_ms = now_ms
        result = harness.compact(first_dirty)
        harness.log.shut_down()
        assert answer == f"cleaned={result.end_offset}"
        assert describe(ours) == describe(theirs), f"pass {n}"
        first_dirty = 0 if n == 1 else result.end_offset // 2


def test_java_opens_what_we_compacted(java: JavaProgram, tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    write(directory, 9)
    harness = opened(directory)
    harness.compact()
    offsets = [offset for offset, _ in harness.values()]
    harness.log.shut_down()
    answer = java.ask(f"open {directory} true {harness.log.recovery_point}")
    assert [int(n) for n in re.findall(r"[=,](\d+)=(?!control)", answer)] == offsets
    assert f"end={harness.log.log_end_offset};" in answer


def test_dump_log_segments_reads_what_we_compacted(tmp_path: Path) -> None:
    require("java")
    directory = tmp_path / "t-0"
    directory.mkdir()
    write(directory, 10)
    harness = opened(directory)
    harness.compact()
    offsets = [b.header.base_offset for b in harness.batches()]
    harness.log.shut_down()
    for option, suffixes in (
        ("--deep-iteration", (".log", ".index", ".timeindex")),
        ("--index-sanity-check", (".index", ".timeindex")),
    ):
        output = _dump(directory, option, suffixes)
        for complaint in ("Mismatches", "out of order", "Indexed offset", "invalid", "Exception"):
            assert complaint not in output, output
        if option == "--deep-iteration":
            assert [int(n) for n in re.findall(r"^baseOffset: (\d+)", output, re.M)] == offsets
            assert "deleteHorizonMs" in output


def _dump(directory: Path, option: str, suffixes: tuple[str, ...]) -> str:
    files = [str(path) for path in sorted(directory.iterdir()) if path.suffix in suffixes]
    command = ["java", "-cp", classpath(), "org.apache.kafka.tools.DumpLogSegments", option]
    dumped = subprocess.run(
        [*command, "--files", ",".join(files)], capture_output=True, text=True, check=False
    )
    assert dumped.returncode == 0, dumped.stderr
    return dumped.stdout
