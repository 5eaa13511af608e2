"""A power loss at every step of a pass: the log opens with all that it meant before."""

import random

import pytest

from snakka.storage.config import LogConfig
from snakka.storage.opening import Checkpointed
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, Harness, keyed

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=100, is_compacted=True, is_deleted=False)


class PowerLossError(Exception):
    """Not an OSError: nothing of ours gets to handle it."""


class DyingDisk(SimulatedDisk):
    """Loses power before its n-th change to a file or a directory from `arm` on."""

    left = -1

    def arm(self, changes: int) -> None:
        self.left = changes

    def check_fault(self, operation: str) -> None:
        if operation != "read":
            self.change()
        super().check_fault(operation)

    def remove(self, path: str) -> None:
        self.change()
        super().remove(path)

    def change(self) -> None:
        if self.left == 0:
            raise PowerLossError
        self.left -= 1


def make(seed: int) -> tuple[DyingDisk, Harness]:
    disk = DyingDisk(random.Random(seed))
    disk.make_directory("/logs")
    harness = Harness(disk, CONFIG)
    rng = random.Random(0)
    for n in range(60):
        harness.append(keyed((b"%d" % rng.randrange(20), b"value-%d" % n)))
        if n % 9 == 8:
            harness.append(
                keyed(
                    (b"x", b"%d" % n), producer_id=1, epoch=0, sequence=n // 9, transactional=True
                )
            )
            harness.append_marker(1, 0, commit=n % 2 == 0)
    harness.log.roll(now_ms=NOW_MS)
    harness.log.flush()
    return disk, harness


@pytest.mark.parametrize("recovery_point", [0, 40, 1 << 40])
def test_a_crash_at_every_step(recovery_point: int) -> None:
    step = 0
    while True:
        disk, harness = make(step)
        before, end = harness.content(), harness.log.log_end_offset
        recovery_point = min(recovery_point, end)
        disk.arm(step)
        try:
            harness.compact()
        except PowerLossError:
            is_over = False
        else:
            is_over = True
        disk.arm(-1)
        disk.crash()
        opened = harness.open(Checkpointed(0, recovery_point))
        assert opened.damages == (), step
        assert harness.content() == before, step
        assert harness.log.log_end_offset == end, step
        producer = harness.log.producers.find(1)
        assert producer is not None
        assert producer.last_sequence == 5, step
        harness.compact()
        assert harness.content() == before, step
        assert not [n for n in disk.names("/logs/t-0") if n.endswith((".cleaned", ".swap"))]
        if is_over:
            break
        step += 1
    assert step > 50, "there is something to interrupt"


@pytest.mark.parametrize("seed", range(20))
def test_what_was_flushed_does_not_go_for_what_was_not(seed: int) -> None:
    disk = SimulatedDisk(random.Random(seed))
    disk.make_directory("/logs")
    harness = Harness(disk, CONFIG)
    harness.append(keyed((b"a", bytes(400))))
    harness.log.roll(now_ms=NOW_MS)
    harness.log.flush()
    harness.append(keyed((b"a", b"newer, and in the page cache only" + bytes(300))))
    harness.log.roll(now_ms=NOW_MS)
    recovery_point = harness.log.recovery_point
    harness.log.update_high_watermark(2)
    compaction = harness.begin_compaction()
    compaction.map_keys()
    compaction.clean_next()
    assert compaction.place()
    assert compaction.has_more
    disk.crash()
    harness.open(Checkpointed(0, recovery_point))
    assert b"a" in harness.content()
