"""The share coordinator over a log in memory: epochs, snapshots, what is redundant, loading."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.hosted import HostSettings
from snakka.coordinators.share_state.batches import DeliveryBatch
from snakka.coordinators.share_state.machine import ShareStateSettings
from snakka.coordinators.share_state.share_states import ShareStates
from snakka.coordinators.share_state.state import SharePartition, ShareState
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages import initialize_share_group_state as initialize
from snakka.protocol.messages import write_share_group_state as write
from snakka.protocol.types import Uuid
from tests.coordinators.fakes import FakeLog, FakeTimers, settle

TOPIC = Uuid(b"t" * 16)
GONE = Uuid(b"g" * 16)
HERE, THERE = SharePartition("group", TOPIC, 0), SharePartition("group", TOPIC, 1)
SETTINGS = ShareStateSettings(updates_per_snapshot=3, cold_snapshot_interval_ms=1000)


class World:
    """A coordinator of one partition, which can be moved to another broker."""

    def __init__(self, log: FakeLog) -> None:
        self.log = log
        self.timers = FakeTimers()
        self.states = self._new()

    def _new(self) -> ShareStates:
        def has_partition(topic_id: Uuid, index: int) -> bool:
            return topic_id in (TOPIC, GONE) and index < 2

        return ShareStates(SETTINGS, HostSettings(), lambda: 1, self.timers, has_partition)

    async def lead(self) -> None:
        """Somebody else does from now on, and knows what the log says."""
        self.states = self._new()
        self.states.on_partition_led(0, self.log, self.log.leader_epoch)
        await self.states.loaded()

    async def initialize(
        self, where: SharePartition, *, state_epoch: int = 0, start: int = 0
    ) -> None:
        asked = initialize.PartitionData(
            partition=where.partition, state_epoch=state_epoch, start_offset=start
        )
        await self.states.execute(where, lambda m, now_ms: m.initialize(where, asked, now_ms))

    async def write(
        self,
        where: SharePartition,
        *batches: DeliveryBatch,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start: int = -1,
    ) -> None:
        asked = write.PartitionData(
            partition=where.partition,
            state_epoch=state_epoch,
            leader_epoch=leader_epoch,
            start_offset=start,
            delivery_complete_count=7,
            state_batches=[write.StateBatch(**each._asdict()) for each in batches],
        )
        await self.states.execute(where, lambda m, now_ms: m.write(where, asked, now_ms))

    async def read(self, where: SharePartition, leader_epoch: int = -1) -> ShareState:
        return await self.states.execute(
            where, lambda m, now_ms: m.read(where, leader_epoch, now_ms)
        )

    async def summarize(self, where: SharePartition) -> ShareState | None:
        return await self.states.execute(where, lambda machine, _: machine.summarize(where))


Scenario = Callable[[World], Coroutine[Any, Any, None]]


def play(scenario: Scenario) -> None:
    async def run() -> None:
        world = World(FakeLog())
        await world.lead()
        await scenario(world)

    asyncio.run(run())


async def refused(asked: Coroutine[Any, Any, object]) -> ErrorCode:
    with pytest.raises(CoordinatorError) as raised:
        await asked
    return raised.value.code


def test_what_is_written_is_read_after_a_failover() -> None:
    async def scenario(world: World) -> None:
        await world.initialize(HERE, start=10)
        for count in range(1, 6):  # more than an update in a snapshot
            await world.write(HERE, DeliveryBatch(10, 19, 0, count))
            await world.write(HERE, DeliveryBatch(15 + count, 15 + count, 2, count))
            before = await world.read(HERE)
            await world.lead()
            assert await world.read(HERE) == before
        await world.write(HERE, start=18)
        state = await world.read(HERE)
        assert (state.start_offset, state.delivery_complete_count) == (18, 7)
        # 16 and 17 lie before the start; what was acknowledged once is tried again later.
        assert state.batches == (
            DeliveryBatch(18, 19, 0, 5),
            DeliveryBatch(20, 20, 2, 5),
        )

    play(scenario)


def test_epochs_fence() -> None:
    async def scenario(world: World) -> None:
        assert await refused(world.write(HERE)) is ErrorCode.INVALID_REQUEST
        assert await refused(world.read(HERE)) is ErrorCode.INVALID_REQUEST
        await world.initialize(HERE, state_epoch=2)
        assert await refused(world.initialize(HERE, state_epoch=1)) is ErrorCode.FENCED_STATE_EPOCH
        assert await refused(world.write(HERE, state_epoch=1)) is ErrorCode.FENCED_STATE_EPOCH
        await world.read(HERE, leader_epoch=5)  # a new leader, which fences the one before
        await world.lead()
        late = world.write(HERE, state_epoch=2, leader_epoch=4)
        assert await refused(late) is ErrorCode.FENCED_LEADER_EPOCH
        assert await refused(world.read(HERE, leader_epoch=4)) is ErrorCode.FENCED_LEADER_EPOCH
        await world.write(HERE, state_epoch=2, leader_epoch=5)

    play(scenario)


def test_nothing_is_kept_of_what_is_not_there() -> None:
    async def scenario(world: World) -> None:
        nowhere = SharePartition("group", Uuid(b"n" * 16), 0)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await refused(world.initialize(nowhere)) is unknown
        assert await refused(world.initialize(HERE._replace(partition=2))) is unknown
        negative = await refused(world.initialize(HERE._replace(partition=-1)))
        assert negative is ErrorCode.INVALID_REQUEST
        assert world.log.end_offset == 0

    play(scenario)


def test_only_what_is_committed_is_answered() -> None:  # pitfall 1
    async def scenario(world: World) -> None:
        world.log.commits_at_once = False
        writing = asyncio.create_task(world.initialize(HERE))
        await settle()
        assert not writing.done()
        world.log.commit()
        await writing

    play(scenario)


def test_what_lies_before_all_snapshots_is_redundant() -> None:
    async def scenario(world: World) -> None:
        await world.initialize(HERE)
        await world.initialize(THERE)
        for _ in range(4):  # three updates, and a snapshot
            await world.write(THERE)
        assert world.states.redundant_offsets() == {0: 0}  # where HERE begins
        world.timers.advance(1000)  # long enough to be written anew
        await settle()
        assert world.states.redundant_offsets() == {0: 6}
        before = await world.read(HERE), await world.read(THERE)
        world.log.batches = world.log.batches[6:]
        world.log.start_offset = 6
        await world.lead()
        assert (await world.read(HERE), await world.read(THERE)) == before
        end = world.log.end_offset
        world.timers.advance(5000)  # all are cold: writing them again would help nobody
        await settle()
        assert world.log.end_offset == end

    play(scenario)


def test_what_is_deleted_is_gone() -> None:
    async def scenario(world: World) -> None:
        gone = SharePartition("group", GONE, 0)
        await world.initialize(HERE)
        await world.initialize(gone)
        await world.states.execute(HERE, lambda machine, _: machine.delete(HERE))
        world.states.on_topics_deleted({GONE})
        await settle()
        await world.lead()
        for where in (HERE, gone):
            assert await world.summarize(where) is None
        end = world.log.end_offset
        assert world.states.redundant_offsets() == {0: end}
        await world.states.execute(HERE, lambda machine, _: machine.delete(HERE))
        assert world.log.end_offset == end

    play(scenario)
