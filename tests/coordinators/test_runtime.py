"""Loading, parking, fencing: what the runtime does for any machine."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from snakka.coordinators.decision import Answer, Decision, Later, NewRecord, WrittenRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.hosted import Hosted, HostSettings, TransactionEnd
from snakka.coordinators.runtime import Runtime
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.frames import GROUP_RECORDS
from snakka.protocol.internal.offsets import OffsetCommitKey, OffsetCommitValue
from snakka.protocol.messages.heartbeat import HeartbeatResponse
from tests.coordinators.fakes import FakeLog, FakeTimers, settle


class Register:
    """A machine that keeps one number, and answers who waits for the next."""

    def __init__(self) -> None:
        self.value: int | None = None  # hard
        self.ended: list[tuple[int, bool]] = []  # hard
        self.offsets: list[int] = []  # hard
        self.deadline_ms: int | None = None  # soft
        self.tokens: list[int] = []  # soft
        self.next_token = 0  # soft

    def put(self, value: int | None) -> Decision[int]:
        key = OffsetCommitKey(group="g", topic="t", partition=0)
        stored = None
        if value is not None:
            stored = OffsetCommitValue(offset=value, metadata="", commit_timestamp=0)
        answers = tuple(Answer(each, HeartbeatResponse(error_code=0)) for each in self.tokens)
        self.tokens = []
        return Decision(value or 0, (NewRecord(key, stored, 3),), answers)

    def get(self) -> Decision[int | None]:
        return Decision(self.value)

    def wait(self) -> Decision[Any]:
        self.next_token += 1
        self.tokens.append(self.next_token)
        return Decision(Later(self.next_token))

    def replay(self, record: WrittenRecord) -> None:
        self.offsets.append(record.offset)
        value = record.value
        self.value = value.offset if isinstance(value, OffsetCommitValue) else None

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None:
        self.ended.append((producer_id, is_committed))

    def on_loaded(self, now_ms: int) -> Decision[None]:
        return Decision(None)

    def next_deadline_ms(self) -> int | None:
        return self.deadline_ms

    def expire(self, now_ms: int) -> Decision[None]:
        if self.deadline_ms is None or self.deadline_ms > now_ms:
            return Decision(None)
        self.deadline_ms = None
        return Decision(None, self.put(-7).records)


Body = Callable[[Runtime[Register], FakeTimers], Coroutine[Any, Any, None]]


def run(body: Body, settings: HostSettings = HostSettings()) -> None:  # noqa: B008
    async def main() -> None:
        timers = FakeTimers()
        async with Runtime(Register, GROUP_RECORDS, timers, settings) as runtime:
            await body(runtime, timers)

    asyncio.run(main())


async def led(runtime: Runtime[Register], log: FakeLog, epoch: int = 0) -> Hosted[Register]:
    runtime.on_partition_led(0, log, epoch)
    await runtime.loaded()
    return runtime.get(0)


def put(value: int | None) -> Callable[[Register, int], Decision[int]]:
    return lambda machine, now_ms: machine.put(value)


def refused_with(error: BaseException | None) -> ErrorCode:
    assert isinstance(error, CoordinatorError)
    return error.code


def test_an_answer_waits_until_its_record_is_committed() -> None:  # pitfall 1
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        first, second = hosted.execute(put(1)), hosted.execute(put(2))
        read = hosted.execute(lambda machine, now_ms: machine.get())
        await settle()
        assert not any(each.done() for each in (first, second, read))
        log.commit(1)
        await settle()
        assert first.result() == 1
        assert not any(each.done() for each in (second, read))
        log.commit(2)
        assert (await second, await read) == (2, 2)

    run(body)


def put_with_effect(value: int) -> Callable[[Register, int], Decision[None]]:
    return lambda machine, now_ms: Decision(None, machine.put(value).records, effects=(value,))


def test_effects_come_once_their_decision_is_committed_and_not_without() -> None:
    async def main() -> None:
        performed: list[object] = []
        log = FakeLog(commits_at_once=False)
        async with Runtime(
            Register,
            GROUP_RECORDS,
            FakeTimers(),
            HostSettings(),
            lambda hosted, effect: performed.append(effect),
        ) as runtime:
            hosted = await led(runtime, log)
            for number in range(2):
                hosted.execute(put_with_effect(number))
            assert performed == []
            log.commit(1)
            await settle()
            assert performed == [0]
            runtime.on_partition_lost(0, 1)
            log.commit(2)
            await settle()
            assert performed == [0]

    asyncio.run(main())


def test_a_later_answer_waits_for_the_record_of_the_command_that_brings_it() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        waiting = hosted.execute(lambda machine, now_ms: machine.wait())
        hosted.execute(put(1))
        await settle()
        assert not waiting.done()
        log.commit()
        assert await waiting == HeartbeatResponse(error_code=0)

    run(body)


def test_a_refused_batch_changes_nothing_and_fails_everybody_it_answers() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog()
        hosted = await led(runtime, log)
        await hosted.execute(put(1))
        waiting = hosted.execute(lambda machine, now_ms: machine.wait())
        log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
        refused = hosted.execute(put(2))
        assert refused_with(refused.exception()) is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert refused_with(waiting.exception()) is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert hosted.machine.value == 1

    run(body)


def test_what_is_not_committed_in_time_is_answered_so() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        waiting = hosted.execute(put(1))
        timers.advance(5_000)
        assert refused_with(waiting.exception()) is ErrorCode.COORDINATOR_NOT_AVAILABLE

    run(body)


def test_loading_replays_the_log_in_pieces_and_refuses_meanwhile() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog()
        hosted = await led(runtime, log)
        for value in (*range(100), None, 5):
            await hosted.execute(put(value))
        await hosted.end_transaction(TransactionEnd(9, 0, 0, is_committed=True))
        log.leader_epoch, log.read_gate, log.reads = 1, asyncio.Event(), 0
        runtime.on_partition_led(0, log, 1)
        with pytest.raises(CoordinatorError, match="COORDINATOR_LOAD_IN_PROGRESS"):
            runtime.get(0).execute(put(1))
        log.read_gate.set()
        await runtime.loaded()
        loaded = runtime.get(0).machine
        assert loaded is not hosted.machine
        assert (loaded.value, loaded.ended) == (5, [(9, True)])
        assert loaded.offsets == hosted.machine.offsets
        assert log.reads > 5

    run(body, HostSettings(load_bytes_max=1_000))


def test_answers_about_what_was_loaded_wait_until_that_is_committed() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        hosted.execute(put(3))
        log.leader_epoch = 1
        again = await led(runtime, log, 1)
        read = again.execute(lambda machine, now_ms: machine.get())
        await settle()
        assert not read.done()
        log.commit()
        assert await read == 3

    run(body)


def test_lost_leadership_fails_everybody_who_waits() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        parked = hosted.execute(put(1))
        later = hosted.execute(lambda machine, now_ms: machine.wait())
        runtime.on_partition_lost(0, 1)
        assert refused_with(parked.exception()) is ErrorCode.NOT_COORDINATOR
        assert refused_with(later.exception()) is ErrorCode.NOT_COORDINATOR
        with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
            runtime.get(0)
        with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
            hosted.execute(put(1))

    run(body)


def test_the_log_may_be_the_first_to_know() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        parked = hosted.execute(put(1))
        log.lose_leadership()
        await settle()
        assert refused_with(parked.exception()) is ErrorCode.NOT_COORDINATOR
        with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
            runtime.get(0).execute(put(2))

    run(body)


def test_leader_epochs_put_late_news_in_order() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(leader_epoch=4)
        hosted = await led(runtime, log, 4)
        runtime.on_partition_lost(0, 3)
        runtime.on_partition_led(0, log, 4)
        assert runtime.get(0) is hosted
        runtime.on_partition_lost(0, 5)
        runtime.on_partition_led(0, log, 4)
        with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
            runtime.get(0)

    run(body)


def test_a_log_that_does_not_load_is_nobodys_coordinator(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog()
        hosted = await led(runtime, log)
        await hosted.execute(put(1))
        log.batches[0] = log.batches[0][:-1] + b"?"
        log.leader_epoch = 1
        again = await led(runtime, log, 1)
        with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
            again.execute(put(1))

    run(body)
    assert "cannot be loaded" in caplog.text


def test_deadlines_of_the_machine_are_kept() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog()
        hosted = await led(runtime, log)
        hosted.machine.deadline_ms = timers.now_ms() + 100
        await hosted.execute(put(1))
        timers.advance(99)
        assert hosted.machine.value == 1
        timers.advance(1)
        assert hosted.machine.value == -7

    run(body)


def test_a_client_that_went_away_is_nobodys_trouble() -> None:
    async def body(runtime: Runtime[Register], timers: FakeTimers) -> None:
        log = FakeLog(commits_at_once=False)
        hosted = await led(runtime, log)
        parked = hosted.execute(put(1))
        later = hosted.execute(lambda machine, now_ms: machine.wait())
        parked.cancel()
        later.cancel()
        assert await_nothing(hosted.execute(put(2)))
        log.commit()
        await settle()
        assert hosted.machine.value == 2

    run(body)


def await_nothing(future: asyncio.Future[int]) -> bool:
    return not future.done()
