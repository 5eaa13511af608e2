"""A compacted log on a disk that crashes, against a plain dict per reader.

Whatever happens, a read_committed reader of the whole log ends up with the last value of every key,
a tombstone counting as none; nothing flushed is lost; producers and open transactions go on.
"""

import random
from contextlib import suppress
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from snakka.protocol.records.compression import Compression
from snakka.storage.compaction.compact import look_at
from snakka.storage.config import CleanerConfig, LogConfig
from snakka.storage.errors import LogFailedError
from snakka.storage.opening import Checkpointed
from snakka.storage.truncation import truncate_to
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import Harness, keyed

PRODUCERS = (1, 2)
KEYS = st.integers(0, 5).map(lambda n: b"%d" % n)
VALUES = st.one_of(st.none(), st.binary(max_size=20))
FAULTS = ("write", "sync", "read")


class Entry(NamedTuple):
    """A batch of the model, or a marker if `commit` is not None."""

    base: int
    records: tuple[tuple[bytes, bytes | None], ...]
    producer: int = -1
    commit: bool | None = None

    @property
    def end(self) -> int:
        return self.base + (len(self.records) or 1)


class CompactionMachine(RuleBasedStateMachine):
    @initialize(
        seed=st.integers(0, 1 << 32),
        segment_bytes=st.sampled_from([300, 1000]),
        delete_retention_ms=st.sampled_from([0, 100, 10_000]),
        map_bytes=st.sampled_from([64, 128, 1 << 12]),
    )
    def start(
        self, seed: int, segment_bytes: int, delete_retention_ms: int, map_bytes: int
    ) -> None:
        self.disk = SimulatedDisk(random.Random(seed))
        self.disk.make_directory("/logs")
        config = LogConfig(
            segment_bytes=segment_bytes,
            index_interval_bytes=100,
            is_compacted=True,
            is_deleted=False,
            delete_retention_ms=delete_retention_ms,
        )
        self.cleaner = CleanerConfig(dedupe_buffer_size=map_bytes)
        self.harness = Harness(self.disk, config)
        self.entries: list[Entry] = []
        self.flushed = self.checkpointed = self.cleaned = 0

    @property
    def end(self) -> int:
        return self.entries[-1].end if self.entries else 0

    @property
    def decided(self) -> list[Entry]:
        """The batches of records that a read_committed reader may see, in order."""
        fates: dict[int, bool] = {}
        visible = []
        for entry in reversed(self.entries):
            if entry.commit is not None:
                fates[entry.producer] = entry.commit
            elif entry.producer < 0 or fates.get(entry.producer, False):
                visible.append(entry)
        return visible[::-1]

    # What happens.

    @rule(
        records=st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=3),
        producer=st.sampled_from((-1, -1, *PRODUCERS)),
        codec=st.sampled_from([Compression.NONE, Compression.LZ4]),
    )
    def append(
        self, records: list[tuple[bytes, bytes | None]], producer: int, codec: Compression
    ) -> None:
        known = self.harness.log.producers.find(producer)
        batch = keyed(
            *records,
            timestamp_ms=self.harness.now_ms,
            compression=codec,
            producer_id=producer,
            epoch=min(producer, 0),
            sequence=-1 if producer < 0 else known.last_sequence + 1 if known else 0,
            transactional=producer >= 0,
        )
        self.harness.append(batch)
        self.entries.append(Entry(self.end, tuple(records), producer))
        self.flush_if_rolled()

    @rule(producer=st.sampled_from(PRODUCERS), commit=st.booleans())
    def end_transaction(self, producer: int, commit: bool) -> None:
        self.harness.append_marker(producer, 0, commit=commit)
        self.entries.append(Entry(self.end, (), producer, commit))
        self.flush_if_rolled()

    @rule()
    def roll(self) -> None:
        self.harness.log.roll(now_ms=self.harness.now_ms)
        self.flush_if_rolled()

    def flush_if_rolled(self) -> None:
        """As the node does. Where a crash cuts a sealed segment, compacted logs cannot tell."""
        if self.harness.log.recovery_point < self.harness.log.segments.active.base_offset:
            self.flush()

    @rule()
    def flush(self) -> None:
        self.harness.log.flush()
        self.flushed = self.checkpointed = self.end

    @rule(wait_ms=st.integers(0, 5000))
    def wait(self, wait_ms: int) -> None:
        self.harness.now_ms += wait_ms

    @rule(is_thorough=st.booleans())
    def compact(self, is_thorough: bool) -> None:
        if self.prepare_to_compact(0 if is_thorough else self.cleaned):
            result = self.harness.compact(0 if is_thorough else self.cleaned, self.cleaner)
            self.cleaned = max(self.cleaned, result.end_offset)

    @rule(fault=st.sampled_from(FAULTS), steps=st.integers(0, 12), is_crash=st.booleans())
    def compact_with_a_fault(self, fault: str, steps: int, is_crash: bool) -> None:
        """Somewhere in a pass the disk refuses, or loses power."""
        if not self.prepare_to_compact(0):
            return
        compaction = self.harness.begin_compaction(0, self.cleaner)
        with suppress(OSError, LogFailedError):
            compaction.map_keys()
            for step in range(steps):
                if not compaction.has_more:
                    break
                if step == steps - 1 and not is_crash:
                    self.disk.failing = {fault}
                compaction.clean_next()
                if step == steps - 1 and is_crash:
                    break
                compaction.place()
        self.disk.failing = set()
        if is_crash:
            self.crash()
        else:
            self.open(Checkpointed(0, self.checkpointed))

    def prepare_to_compact(self, cleaned: int) -> bool:
        log = self.harness.log
        log.update_high_watermark(self.end)
        return look_at(log, cleaned, now_ms=self.harness.now_ms).dirty_bytes > 0

    @precondition(lambda self: self.entries)
    @rule(back=st.integers(1, 8))
    def truncate(self, back: int) -> None:
        """Never below what was compacted: that was committed."""
        target = max(self.cleaned, self.harness.log.high_watermark, self.end - back)
        self.checkpointed = min(self.checkpointed, target)
        truncate_to(self.harness.log, target)
        self.entries = [entry for entry in self.entries if entry.end <= target]
        self.flushed = min(self.flushed, self.end)
        self.checkpointed = min(self.checkpointed, self.end)

    @rule()
    def restart(self) -> None:
        self.harness.log.shut_down()
        recovery_point = self.harness.log.recovery_point
        self.open(Checkpointed(0, recovery_point, is_clean=True))
        self.flushed = self.checkpointed = self.end

    @rule()
    def crash(self) -> None:
        self.disk.crash()
        self.open(Checkpointed(0, self.checkpointed))

    def open(self, checkpointed: Checkpointed) -> None:
        high_watermark = self.harness.log.high_watermark
        opened = self.harness.open(checkpointed)
        recovered = opened.log.log_end_offset
        assert recovered >= min(self.flushed, self.end), "flushed records are lost"
        assert recovered >= self.cleaned, "compacted records are lost"
        self.entries = [entry for entry in self.entries if entry.end <= recovered]
        assert self.end == recovered, "records were invented"
        self.flushed = self.end
        opened.log.update_high_watermark(min(high_watermark, self.end))

    # What must hold.

    @invariant()
    def readers_agree(self) -> None:
        expected: dict[bytes | None, bytes | None] = {}
        for entry in self.decided:
            expected.update(entry.records)
        content = self.harness.content()
        undecided = self.undecided_keys()
        for key in expected.keys() | content.keys():
            if key not in undecided:
                assert content.get(key) == expected.get(key), key

    def undecided_keys(self) -> set[bytes | None]:
        """`content` shows open transactions, which a real reader would stop before."""
        ended, keys = set[int](), set[bytes | None]()
        for entry in reversed(self.entries):
            if entry.commit is not None:
                ended.add(entry.producer)
            elif entry.producer >= 0 and entry.producer not in ended:
                keys |= {key for key, _ in entry.records}
        return keys

    @invariant()
    def offsets_agree(self) -> None:
        log = self.harness.log
        assert log.log_end_offset == self.end
        originals = {
            entry.base + n: value
            for entry in self.entries
            for n, (_, value) in enumerate(entry.records)
        }
        values = self.harness.values()
        assert all(originals[offset] == value for offset, value in values)
        offsets = [offset for offset, _ in values]
        assert offsets == sorted(set(offsets))
        bases = [segment.base_offset for segment in log.segments]
        assert bases == sorted(set(bases))
        if offsets:
            middle = offsets[len(offsets) // 2]
            assert self.harness.values(middle)[0][0] == middle

    @invariant()
    def producers_agree(self) -> None:
        producers = self.harness.log.producers
        for producer in PRODUCERS:
            mine = [entry for entry in self.entries if entry.producer == producer]
            count = sum(len(entry.records) for entry in mine)
            known = producers.find(producer)
            if count:
                assert known is not None
                assert known.last_sequence == count - 1
            ongoing: list[Entry] = []
            for entry in mine:
                ongoing = [*ongoing, entry] if entry.commit is None else []
            first_offset = known.current_txn_first_offset if known else None
            assert first_offset == (ongoing[0].base if ongoing else None)


TestCompactionMachine = CompactionMachine.TestCase
TestCompactionMachine.settings = settings(
    max_examples=60,
    stateful_step_count=50,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
