"""What a read_committed consumer makes of its fetches, against a model of what it is to see.

Several producers' transactions overlap, over many segments; markers are replicated late.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker, read_control_key
from snakka.protocol.records.record import Record
from snakka.replication.replica import PartitionRead, Replica
from snakka.storage.config import LogConfig
from snakka.storage.validate import AppendOrigin
from tests.apis.broker import NODE_ID, NOW_MS, TestBroker

FOLLOWER = 2
PRODUCERS = range(4)
PLAIN = -1


@dataclass
class Model:
    """Batches of one record each: who wrote it, and where the marker of its transaction is."""

    writers: dict[int, int] = field(default_factory=dict)  # of records, by offset
    ends: dict[int, tuple[int, bool]] = field(default_factory=dict)  # of records: marker, outcome
    open: dict[int, list[int]] = field(default_factory=dict)  # records by producer

    def last_stable_offset(self, high_watermark: int) -> int:
        unstable = [
            offset
            for offset, writer in self.writers.items()
            if writer != PLAIN
            and self.ends.get(offset, (high_watermark, True))[0] >= high_watermark
        ]
        return min([high_watermark, *unstable])

    def visible(self, start: int, end: int) -> list[int]:
        return [
            offset
            for offset, writer in self.writers.items()
            if start <= offset < end and (writer == PLAIN or self.ends[offset][1])
        ]


class Partition:
    """A leader with one follower, small segments, and the model beside it."""

    def __init__(self, path: Path, rng: Random) -> None:
        self.replica = TestBroker(path).create(
            "t", LogConfig(segment_bytes=600, index_interval_bytes=100), isr=(NODE_ID, FOLLOWER)
        )
        self.model = Model()
        self._rng = rng
        self._sequences = dict.fromkeys(PRODUCERS, 0)

    @property
    def end_offset(self) -> int:
        return self.replica.log.log_end_offset

    def step(self) -> None:
        match self._rng.randrange(6):
            case 0 | 1 | 2:
                self._write(self._rng.choice((PLAIN, *PRODUCERS)))
            case 3 | 4 if self.model.open:
                self._end(self._rng.choice(list(self.model.open)))
            case _:
                behind = self.replica.log.high_watermark
                self.replica.on_follower_fetch(FOLLOWER, self._rng.randint(behind, self.end_offset))

    def _write(self, producer_id: int) -> None:
        offset = self.end_offset
        record = Record(0, NOW_MS, None, b"%d" % offset)
        if producer_id == PLAIN:
            self._append(build_batch([record]))
        else:
            sequence = self._sequences[producer_id]
            self._sequences[producer_id] += 1
            self._append(
                build_batch(
                    [record],
                    producer_id=producer_id,
                    producer_epoch=0,
                    base_sequence=sequence,
                    is_transactional=True,
                )
            )
            self.model.open.setdefault(producer_id, []).append(offset)
        self.model.writers[offset] = producer_id

    def _end(self, producer_id: int) -> None:
        is_committed = self._rng.random() < 0.5
        for offset in self.model.open.pop(producer_id):
            self.model.ends[offset] = (self.end_offset, is_committed)
        kind = ControlType.COMMIT if is_committed else ControlType.ABORT
        marker = build_end_txn_batch(
            EndTxnMarker(kind, 0), timestamp_ms=NOW_MS, producer_id=producer_id, producer_epoch=0
        )
        self._append(marker, AppendOrigin.COORDINATOR)

    def _append(self, batch: bytes, origin: AppendOrigin = AppendOrigin.CLIENT) -> None:
        self.replica.log.append_as_leader(
            bytearray(batch), leader_epoch=5, now_ms=NOW_MS, origin=origin
        )
        self.replica.write()


def fetches(replica: Replica, start: int, max_bytes: int) -> Iterator[PartitionRead]:
    """One fetch after another, as far as there is something to be had."""
    offset = start
    while True:
        read = replica.read(offset, max_bytes=max_bytes, read_committed=True, min_one_batch=True)
        if not read.records.runs:
            return
        yield read
        offset = max(
            each.header.next_offset
            for each in batches(read.records.copy(), ignore_partial_tail=True)
        )


def consumed(replica: Replica, start: int, max_bytes: int) -> list[int]:
    """As Java's consumer leaves out what was aborted: by the list, in order, up to each marker."""
    found: list[int] = []
    for read in fetches(replica, start, max_bytes):
        waiting = sorted(read.aborted or (), key=lambda each: each.first_offset)
        aborted: set[int] = set()
        for batch in batches(read.records.copy(), ignore_partial_tail=True):
            header = batch.header
            while waiting and waiting[0].first_offset <= header.last_offset:
                aborted.add(waiting.pop(0).producer_id)
            if header.is_control:
                (marker,) = batch.records()
                if read_control_key(marker.key) is ControlType.ABORT:
                    aborted.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborted):
                found += [record.offset for record in batch.records() if record.offset >= start]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_readers_see_what_was_committed_and_nothing_else(seed: int, tmp_path: Path) -> None:
    # pitfalls 12 and 19
    rng = Random(seed)
    partition = Partition(tmp_path, rng)
    replica, model = partition.replica, partition.model
    for _ in range(12):
        for _ in range(10):
            partition.step()
        stable = model.last_stable_offset(replica.log.high_watermark)
        assert replica.log.last_stable_offset == stable
        start, max_bytes = rng.randint(0, stable), rng.choice((1, 200, 1_000, 100_000))
        assert consumed(replica, start, max_bytes) == model.visible(start, stable)
    assert len(replica.log.segments) > 5
