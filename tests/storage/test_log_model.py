"""A log on a disk that crashes, against a plain list of batches.

Whatever happens: offsets rise without gaps, every flushed record is there after every crash,
nothing is there that was not appended, indexes and producers say what the batches say.
"""

import random
from contextlib import suppress
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from snakka.storage.config import LogConfig
from snakka.storage.errors import LogFailedError
from snakka.storage.lookup import (
    find_aborted_transactions,
    find_max_timestamp,
    find_offset_by_timestamp,
)
from snakka.storage.opening import Checkpointed
from snakka.storage.retention import enforce_retention
from snakka.storage.truncation import truncate_fully, truncate_to
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, Harness, batch_of

PRODUCERS = (1, 2)


class Entry(NamedTuple):
    """A batch of the model. `commit` is None for a batch of records."""

    base: int
    values: tuple[bytes, ...]
    timestamp: int
    producer: int = -1
    sequence: int = -1
    commit: bool | None = None

    @property
    def end(self) -> int:
        return self.base + (len(self.values) or 1)


class LogMachine(RuleBasedStateMachine):
    @initialize(
        seed=st.integers(0, 1 << 32), segment_bytes=st.sampled_from([300, 500, 1500, 10_000])
    )
    def start(self, seed: int, segment_bytes: int) -> None:
        self.disk = SimulatedDisk(random.Random(seed))
        self.disk.make_directory("/logs")
        config = LogConfig(
            segment_bytes=segment_bytes, index_interval_bytes=100, retention_bytes=segment_bytes
        )
        self.harness = Harness(self.disk, config)
        self.entries: list[Entry] = []  # everything ever appended and not cut, deleted or not
        self.staged: list[Entry] = []
        self.first = 0  # where the model begins: a full truncation moves it
        self.flushed = 0
        self.checkpointed = 0
        self.counter = 0
        self.epoch = 0

    # The model.

    @property
    def end(self) -> int:
        return self.entries[-1].end if self.entries else self.first

    @property
    def staged_end(self) -> int:
        return self.staged[-1].end if self.staged else self.end

    def open_transactions(self, entries: list[Entry]) -> dict[int, int]:
        ongoing: dict[int, int] = {}
        for entry in entries:
            if entry.commit is not None:
                ongoing.pop(entry.producer, None)
            elif entry.producer >= 0:
                ongoing.setdefault(entry.producer, entry.base)
        return ongoing

    def next_sequence(self, producer: int) -> int:
        mine = [e for e in self.entries + self.staged if e.producer == producer]
        return next((e.sequence + len(e.values) for e in reversed(mine) if e.commit is None), 0)

    def cut_model(self, end: int) -> None:
        self.entries = [entry for entry in self.entries if entry.end <= end]
        self.staged = []

    # What happens.

    @rule(sizes=st.lists(st.integers(0, 60), min_size=1, max_size=3), jitter=st.integers(-50, 50))
    def append(self, sizes: list[int], jitter: int) -> None:
        self.stage(sizes, NOW_MS + self.counter + jitter)

    @rule(producer=st.sampled_from(PRODUCERS))
    def append_in_transaction(self, producer: int) -> None:
        self.stage([8], NOW_MS + self.counter, producer)

    def stage(self, sizes: list[int], timestamp: int, producer: int = -1) -> None:
        self.counter += 1
        values = tuple(b"%d-%s" % (self.counter, b"x" * size) for size in sizes)
        known = self.harness.log.producers.find(producer)  # forgotten with records that are lost
        sequence = (known.last_sequence + 1 if known else 0) if producer >= 0 else -1
        batch = batch_of(
            *values,
            timestamp_ms=timestamp,
            producer_id=producer,
            epoch=0 if producer >= 0 else -1,
            sequence=sequence,
            transactional=producer >= 0,
        )
        appended = self.harness.log.append_as_leader(batch, leader_epoch=self.epoch, now_ms=NOW_MS)
        entry = Entry(self.staged_end, values, timestamp, producer, sequence)
        assert appended.first_offset == entry.base
        assert appended.last_offset == entry.end - 1
        self.staged.append(entry)
        while self.staged[0].end <= self.harness.log.log_end_offset:  # rolling writes
            self.entries.append(self.staged.pop(0))

    @rule(producer=st.sampled_from(PRODUCERS), commit=st.booleans())
    def end_transaction(self, producer: int, commit: bool) -> None:
        self.write()
        appended = self.harness.append_marker(producer, 0, commit=commit)
        assert appended.first_offset == self.end
        self.entries.append(Entry(self.end, (), NOW_MS, producer, -1, commit))

    @rule()
    def write(self) -> None:
        self.harness.log.write_staged()
        self.entries += self.staged
        self.staged = []

    @rule()
    def roll(self) -> None:
        self.write()
        self.harness.log.roll(now_ms=NOW_MS)

    @rule()
    def flush(self) -> None:
        self.write()
        self.harness.log.flush()
        self.flushed = self.end

    @rule()
    def checkpoint(self) -> None:
        self.checkpointed = self.harness.log.recovery_point

    @rule()
    def new_leader_epoch(self) -> None:
        self.epoch += 1

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        self.write()
        target = max(self.harness.log.log_start_offset, self.end - back)
        self.checkpointed = min(self.checkpointed, target)
        truncate_to(self.harness.log, target)
        self.cut_model(target)
        self.flushed = min(self.flushed, self.end)
        self.checkpointed = min(self.checkpointed, self.end)

    @rule(forward=st.integers(0, 50))
    def truncate_everything(self, forward: int) -> None:
        self.write()
        self.first = self.end + forward
        self.checkpointed = min(self.checkpointed, self.end)
        truncate_fully(self.harness.log, self.first)
        self.entries = []
        self.flushed = self.first

    @rule()
    def retain(self) -> None:
        self.write()
        self.harness.log.update_high_watermark(self.end)
        enforce_retention(self.harness.log, now_ms=NOW_MS)

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        self.write()
        log = self.harness.log
        log.update_high_watermark(self.end)
        start = log.log_start_offset
        log.advance_log_start(start + int((self.end - start) * part))

    @rule(room_bytes=st.integers(0, 1000), count=st.integers(1, 6))
    def fill_the_disk(self, room_bytes: int, count: int) -> None:
        """The log fails wherever the disk is full, and is opened anew when there is room."""
        self.write()
        acknowledged, capacity = self.end, self.disk.capacity_bytes
        self.disk.capacity_bytes += room_bytes - self.disk.room_bytes()
        with suppress(LogFailedError):
            for _ in range(count):
                self.stage([40], NOW_MS + self.counter)
            self.write()
        self.disk.capacity_bytes = capacity
        log_start = self.harness.log.log_start_offset
        self.harness.open(Checkpointed(log_start, self.checkpointed))
        recovered = self.harness.log.log_end_offset
        assert acknowledged <= recovered <= self.staged_end
        self.entries += self.staged
        self.cut_model(recovered)
        self.flushed = self.end

    @rule()
    def restart(self) -> None:
        self.write()
        opened = self.harness.reopen()
        assert opened.damages == ()
        assert opened.rebuilt == ()
        self.flushed = self.checkpointed = self.end

    @rule()
    def crash(self) -> None:
        log_start = self.harness.log.log_start_offset
        self.entries += self.staged  # writing may have begun
        self.staged = []
        if self.first:
            self.checkpointed = min(self.checkpointed, self.first)
        self.disk.crash()
        self.harness.open(Checkpointed(log_start, self.checkpointed))
        recovered = self.harness.log.log_end_offset
        assert recovered >= min(self.flushed, self.end), "flushed records are lost"
        self.cut_model(recovered)
        if self.end != recovered:  # only a log that ends before its start goes on elsewhere
            assert recovered == log_start, "records were invented"
            self.entries = []
        if not self.entries:
            self.first = recovered
        self.flushed = self.end

    @precondition(lambda self: self.entries)
    @rule(part=st.floats(0, 1), max_bytes=st.integers(1, 3000), bound=st.floats(0, 1))
    def read(self, part: float, max_bytes: int, bound: float) -> None:
        log = self.harness.log
        start = log.log_start_offset
        offset = start + int((self.end - start) * part)
        max_offset = offset + int((self.end - offset) * bound)
        data = log.read(offset, max_bytes=max_bytes, max_offset=max_offset).copy()
        visible = [e for e in self.entries if e.end > offset and e.end <= max_offset]
        assert bool(data) == bool(visible)
        if visible:
            assert int.from_bytes(data[:8], "big") == visible[0].base

    # What must hold.

    @invariant()
    def offsets_agree(self) -> None:
        log = self.harness.log
        assert log.log_end_offset == self.end
        assert log.log_start_offset <= log.high_watermark <= log.log_end_offset
        assert log.recovery_point <= log.log_end_offset
        bases = [segment.base_offset for segment in log.segments]
        assert bases == sorted(set(bases))

    @invariant()
    def records_agree(self) -> None:
        start = self.harness.log.log_start_offset
        expected = [
            (entry.base + n, value)
            for entry in self.entries
            for n, value in enumerate(entry.values)
            if entry.base + n >= start
        ]
        assert self.harness.values() == expected

    @invariant()
    def timestamps_agree(self) -> None:
        log = self.harness.log
        held = [e for e in self.entries if e.end > log.segments[0].base_offset]
        live = [e for e in held if e.end > log.log_start_offset]
        largest = find_max_timestamp(log)
        expected = max((entry.timestamp for entry in held), default=-1)
        assert (largest.timestamp if largest else -1) == expected
        if live:
            target = live[len(live) // 2].timestamp
            first = next(e for e in live if e.timestamp >= target)
            found = find_offset_by_timestamp(log, target)
            assert found is not None
            assert found[:2] == (first.timestamp, max(first.base, log.log_start_offset))

    @invariant()
    def transactions_agree(self) -> None:
        log = self.harness.log
        held_from = log.segments[0].base_offset
        if self.entries and held_from > self.entries[0].base:
            return  # transactions that began in deleted segments are nobody's business
        everything = self.entries + self.staged
        ongoing = self.open_transactions(everything)
        for producer in PRODUCERS:
            entry = log.producers.find(producer)
            mine = [e for e in everything if e.producer == producer]
            assert (entry is not None) == bool(mine)
            if entry is not None:
                assert entry.current_txn_first_offset == ongoing.get(producer)
                if any(e.commit is None for e in mine):
                    assert entry.last_sequence + 1 == self.next_sequence(producer)
        aborted, started = [], dict[int, int]()
        for entry_ in self.entries:
            if entry_.commit is None and entry_.producer >= 0:
                started.setdefault(entry_.producer, entry_.base)
            elif entry_.commit is not None:
                first = started.pop(entry_.producer, None)
                if first is not None and not entry_.commit:
                    aborted.append((entry_.producer, first, entry_.base))
        found = find_aborted_transactions(log, held_from, self.end + 1)
        assert [entry[:3] for entry in found] == aborted


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
