"""Apache Kafka's own code opens what we wrote, and we what it wrote: the same log either way."""

import os
import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from snakka.protocol.records.batch import batches
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from snakka.storage.producer_snapshot import decode_snapshot
from snakka.storage.truncation import truncate_to
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram, classpath, require
from tests.storage.making import Harness, batch_of

CONFIG = LogConfig(segment_bytes=2000, index_interval_bytes=200, segment_index_bytes=4000)


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "StorageOracle.java") as program:
        yield program


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "t-0"
    directory.mkdir()
    return directory


def opened(directory: Path, checkpointed: Checkpointed) -> OpenedLog:
    return open_log(
        OpenFiles(LocalDisk()),
        str(directory),
        CONFIG,
        random.Random(0),
        checkpointed=checkpointed,
        now_ms=0,
    )


def describe(found: OpenedLog) -> str:
    log = found.log
    data = log.read(log.log_start_offset, max_bytes=1 << 30, max_offset=log.log_end_offset).copy()
    records = [
        f"{record.offset}="
        f"{'control' if batch.header.is_control else (record.value or b'').decode()}"
        f"@{record.timestamp_ms}"
        for batch in batches(data)
        for record in batch.records()
    ]
    aborted = find_aborted_transactions(log, log.log_start_offset, log.log_end_offset + 1)
    producers = [
        f"{entry.producer_id}:{entry.producer_epoch}:{entry.last_sequence}:"
        f"{-1 if entry.current_txn_first_offset is None else entry.current_txn_first_offset}"
        for entry in sorted(log.producers.entries, key=lambda entry: entry.producer_id)
    ]
    parts = {
        "start": str(log.log_start_offset),
        "end": str(log.log_end_offset),
        "epochs": ",".join(f"{e.epoch}:{e.start_offset}" for e in log.epochs.entries),
        "aborted": ",".join(":".join(map(str, entry)) for entry in aborted),
        "producers": ",".join(producers),
        "records": ",".join(records),
    }
    return ";".join(f"{key}={value}" for key, value in parts.items())


def write_with_snakka(directory: Path) -> Harness:
    """Transactions committed, aborted, overlapping and open, over several segments and epochs."""
    now_ms = time.time_ns() // 1_000_000  # Java forgets producers of long ago when it opens
    harness = Harness(LocalDisk(), CONFIG, str(directory), now_ms)
    sequences = {1: 0, 2: 0}
    for n in range(80):
        values = [b"v%d-%d" % (n, r) for r in range(1 + n % 4)]
        stamps = [now_ms + n * 10 - r for r in range(len(values))]
        producer = n % 3
        epoch = n // 20
        if producer == 0:
            harness.append(batch_of(*values, timestamp_ms=stamps), leader_epoch=epoch)
            continue
        batch = batch_of(
            *values,
            timestamp_ms=stamps,
            producer_id=producer,
            epoch=0,
            sequence=sequences[producer],
            transactional=True,
        )
        harness.append(batch, leader_epoch=epoch)
        sequences[producer] += len(values)
        if n % 7 == 0 or n % 11 == 0:
            harness.append_marker(producer, 0, commit=n % 2 == 1, leader_epoch=epoch)
    assert len(harness.log.segments) > 4
    return harness


def test_java_opens_our_log_after_a_clean_shutdown(java: JavaProgram, directory: Path) -> None:
    harness = write_with_snakka(directory)
    ours = describe(harness.opened)
    harness.log.shut_down()
    assert java.ask(f"open {directory} true {harness.log.recovery_point}") == ours


def test_java_recovers_our_log_after_a_kill(java: JavaProgram, directory: Path) -> None:
    harness = write_with_snakka(directory)
    ours = describe(harness.opened)
    assert java.ask(f"open {directory} false 0") == ours


def test_java_opens_our_truncated_and_recovered_log(java: JavaProgram, directory: Path) -> None:
    harness = write_with_snakka(directory)
    truncate_to(harness.log, 77)
    harness.append(batch_of(b"after"), leader_epoch=9)
    harness.reopen_after_crash(40)
    ours = describe(harness.opened)
    harness.log.shut_down()
    assert java.ask(f"open {directory} true {harness.log.recovery_point}") == ours


@pytest.mark.parametrize("is_clean", [True, False])
def test_we_open_what_java_wrote(java: JavaProgram, directory: Path, is_clean: bool) -> None:
    theirs = java.ask(f"write {directory}")
    assert theirs.startswith("start=0")
    found = opened(directory, Checkpointed(is_clean=is_clean))
    assert found.damages == ()
    assert found.rebuilt == ()
    assert describe(found) == theirs
    found.log.shut_down()
    assert java.ask(f"open {directory} true {found.log.recovery_point}") == theirs


@pytest.mark.parametrize("recovery_point", [0, 60, 100])
def test_we_recover_what_a_killed_broker_left(
    java: JavaProgram, directory: Path, recovery_point: int
) -> None:
    theirs = java.ask(f"abandon {directory}")
    assert theirs.startswith("start=0")
    found = opened(directory, Checkpointed(recovery_point=recovery_point))
    assert found.damages == ()
    assert describe(found) == theirs


def test_we_write_the_same_bytes_as_java(java: JavaProgram, directory: Path) -> None:
    assert java.ask(f"write {directory}").startswith("start=0")
    theirs = opened(directory, Checkpointed(is_clean=True)).log
    ours = Harness(LocalDisk(), CONFIG, str(directory.parent / "t-1"))
    data = theirs.read(0, max_bytes=1 << 30, max_offset=theirs.log_end_offset).copy()
    for batch in batches(data):
        ours.log.append_as_follower(batch.data, now_ms=0)
    ours.log.shut_down()
    mine = directory.parent / "t-1"
    assert sorted(os.listdir(mine)) == sorted(os.listdir(directory))
    for name in sorted(os.listdir(directory)):
        our_bytes, their_bytes = (mine / name).read_bytes(), (directory / name).read_bytes()
        if name.endswith(".snapshot"):  # in the order of a hash map there
            assert _by_id(our_bytes) == _by_id(their_bytes), name
        else:
            assert our_bytes == their_bytes, name


def _by_id(snapshot: bytes) -> dict[int, object]:
    return {entry.producer_id: entry for entry in decode_snapshot(snapshot, "")}


def test_dump_log_segments_has_no_complaint(directory: Path) -> None:
    harness = write_with_snakka(directory)
    harness.log.shut_down()
    output = _dump(directory, "--index-sanity-check", [".index", ".timeindex"])
    assert output.count("passed sanity check") == 2 * len(harness.log.segments)
    output = _dump(directory, "--deep-iteration", [".log", ".index", ".timeindex"])
    for complaint in ("Mismatches", "Non-consecutive", "out of order", "Indexed offset", "invalid"):
        assert complaint not in output, output
    dumped = [int(n) for n in re.findall(r"^\| offset: (\d+)", output, re.MULTILINE)]
    assert dumped == list(range(harness.log.log_end_offset))
    output = _dump(directory, "--print-data-log", [".snapshot", ".txnindex"])
    assert output.count("producerId: 1 ") >= len(harness.log.snapshots.offsets) - 1
    assert "Exception" not in output


def _dump(directory: Path, option: str, suffixes: list[str]) -> str:
    require("java")
    files = [str(p) for p in sorted(directory.iterdir()) if p.suffix in suffixes]
    command = ["java", "-cp", classpath(), "org.apache.kafka.tools.DumpLogSegments", option]
    dumped = subprocess.run(
        [*command, "--files", ",".join(files)], capture_output=True, text=True, check=False
    )
    assert dumped.returncode == 0, dumped.stderr
    return dumped.stdout
