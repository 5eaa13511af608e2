"""Transactional batches: let in once the coordinator vouches for them (KIP-890), pitfall 13."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from snakka.replication.replica import Replica
from tests.apis.broker import NOW_MS, TestBroker, run

V1 = 10
V2 = 12
PRODUCER = Producer(7, 0)


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    return TestBroker(tmp_path)


def batch(sequence: int = 0, epoch: int = 0, value: bytes = b"a") -> bytes:
    return build_batch(
        [Record(0, NOW_MS, None, value)],
        producer_id=7,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=True,
    )


async def produce(
    broker: TestBroker,
    *batches: bytes,
    version: int = V1,
    transactional_id: str | None = "tx",
    acks: int = -1,
) -> list[PartitionProduceResponse]:
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(
                name="t",
                partition_data=[
                    PartitionProduceData(index=index, records=each)
                    for index, each in enumerate(batches)
                ],
            )
        ],
    )
    response = await broker.ask(request, version, ProduceResponse)
    return response.responses[0].partition_responses


def end(replica: Replica, epoch: int, kind: ControlType = ControlType.ABORT) -> None:
    marker = build_end_txn_batch(
        EndTxnMarker(kind, 0), timestamp_ms=NOW_MS, producer_id=7, producer_epoch=epoch
    )
    replica.append_from_coordinator(bytearray(marker), now_ms=NOW_MS)
    replica.write()


def test_the_first_batch_of_a_transaction_asks_and_the_others_do_not(broker: TestBroker) -> None:
    replicas = [broker.create("t", index=index) for index in range(2)]
    broker.coordinator.answers = [ErrorCode.NONE]

    async def scenario() -> None:
        for sequence in range(3):
            answers = await produce(broker, batch(sequence), batch(sequence))
            assert [each.error_code for each in answers] == [0, 0]
            assert [each.base_offset for each in answers] == [sequence, sequence]

    run(scenario())
    assert broker.coordinator.asked == [("verify", "tx", PRODUCER, [0, 1])]
    assert [each.log.log_end_offset for each in replicas] == [3, 3]


def test_version_2_adds_the_partition_and_waits_for_the_transaction_before(
    broker: TestBroker,
) -> None:
    broker.create("t")
    broker.coordinator.answers = [ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NONE]
    (answer,) = run(produce(broker, batch(), version=V2))
    assert answer.error_code == ErrorCode.NONE
    assert broker.coordinator.asked == [("add", "tx", PRODUCER, [0])] * 2


def test_the_marker_of_the_transaction_before_may_come_while_the_next_one_asks(
    broker: TestBroker,
) -> None:
    replica = broker.create("t")
    broker.coordinator.answers = [ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NONE]

    async def scenario() -> int:
        gate = broker.coordinator.gate = asyncio.Event()
        asking = asyncio.create_task(produce(broker, batch(epoch=1), version=V2))
        while not broker.coordinator.asked:
            await asyncio.sleep(0)
        end(replica, epoch=1, kind=ControlType.COMMIT)
        gate.set()
        return (await asking)[0].error_code

    assert run(scenario()) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("code", "version", "told"),
    [
        (ErrorCode.TRANSACTION_ABORTABLE, V1, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.PRODUCER_FENCED, V1, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.NOT_COORDINATOR, V1, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, V2, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, V1, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, V2, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, V2, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_what_nobody_vouches_for_is_refused(
    broker: TestBroker, code: ErrorCode, version: int, told: ErrorCode
) -> None:
    replica = broker.create("t")
    broker.coordinator.answers = [code]
    (answer,) = run(produce(broker, batch(), version=version))
    assert answer.error_code == told
    assert replica.log.log_end_offset == 0


def test_looking_up_can_be_turned_off_and_adding_cannot(broker: TestBroker) -> None:
    broker.create("t")
    broker.use(verifies_transactions=lambda: False)
    broker.coordinator.answers = [ErrorCode.PRODUCER_FENCED]
    (looked_up,) = run(produce(broker, batch()))
    assert looked_up.error_code == ErrorCode.NONE
    (added,) = run(produce(broker, batch(epoch=1), version=V2))
    assert added.error_code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_transactional_batch_without_a_transactional_id_is_refused(broker: TestBroker) -> None:
    broker.create("t")
    (answer,) = run(produce(broker, batch(), transactional_id=None))
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert broker.coordinator.asked == []


def while_asking(
    broker: TestBroker, *sent: bytes, then: Callable[[], Awaitable[None]]
) -> list[int]:
    """The codes of requests whose coordinator answers only after `then`."""
    broker.coordinator.answers = [ErrorCode.NONE]

    async def scenario() -> list[int]:
        gate = broker.coordinator.gate = asyncio.Event()
        asking = [asyncio.create_task(produce(broker, each)) for each in sent]
        while len(broker.coordinator.asked) < len(sent):
            await asyncio.sleep(0)
        await then()
        gate.set()
        return [(await each)[0].error_code for each in asking]

    return run(scenario())


def test_an_answer_that_comes_after_the_transactions_end_lets_nothing_in(
    broker: TestBroker,
) -> None:
    replica = broker.create("t")

    async def end_it() -> None:
        end(replica, epoch=0)

    assert while_asking(broker, batch(), then=end_it) == [ErrorCode.INVALID_TXN_STATE]
    assert replica.log.log_end_offset == 1
    assert replica.log.last_stable_offset == 1  # no transaction hangs


def test_a_late_answer_does_not_vouch_for_the_next_transaction(broker: TestBroker) -> None:
    replica = broker.create("t")
    header_of_next = (7, 0, 0)

    async def end_it_and_ask_for_the_next() -> None:
        end(replica, epoch=0)
        replica.find_verification_of(*header_of_next)

    codes = while_asking(broker, batch(), then=end_it_and_ask_for_the_next)
    assert codes == [ErrorCode.INVALID_TXN_STATE]


def test_a_new_leader_epoch_has_to_ask_again(broker: TestBroker) -> None:
    replica = broker.create("t")

    async def elect_again() -> None:
        before = replica.partition.assignment
        replica.assign(type(before)(1, before.leader_epoch + 1, 1, before.replicas, before.isr))

    assert while_asking(broker, batch(), then=elect_again) == [ErrorCode.INVALID_TXN_STATE]


def test_batches_in_flight_keep_their_order(broker: TestBroker) -> None:
    replica = broker.create("t")
    broker.coordinator.answers = [ErrorCode.NOT_COORDINATOR, ErrorCode.NONE]

    async def scenario() -> None:
        first, second = await asyncio.gather(produce(broker, batch(0)), produce(broker, batch(1)))
        assert first[0].error_code == ErrorCode.NOT_ENOUGH_REPLICAS
        # Nothing is known of the producer, and yet its second batch is not taken for the first.
        assert second[0].error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        for sequence in range(2):
            (again,) = await produce(broker, batch(sequence))
            assert (again.error_code, again.base_offset) == (0, sequence)

    run(scenario())
    assert replica.log.log_end_offset == 2


def test_a_retry_is_answered_even_when_its_transaction_is_over(broker: TestBroker) -> None:
    replica = broker.create("t")
    broker.coordinator.answers = [ErrorCode.NONE]

    async def scenario() -> None:
        await produce(broker, batch())
        end(replica, epoch=0, kind=ControlType.COMMIT)
        (again,) = await produce(broker, batch())
        assert (again.error_code, again.base_offset) == (0, 0)

    run(scenario())
    assert len(broker.coordinator.asked) == 1


def test_the_bytes_outlive_the_frame(broker: TestBroker) -> None:
    """A frame is overwritten while its handler waits."""
    replica = broker.create("t")
    broker.coordinator.answers = [ErrorCode.NONE]

    async def scenario() -> None:
        gate = broker.coordinator.gate = asyncio.Event()
        request = ProduceRequest(
            transactional_id="tx",
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(
                    name="t", partition_data=[PartitionProduceData(index=0, records=batch())]
                )
            ],
        )
        frame = memoryview(bytearray(broker.frame(request, V1)))
        asking = asyncio.create_task(broker.serve_frame(frame))
        while not broker.coordinator.asked:
            await asyncio.sleep(0)
        frame[:] = bytes(len(frame))
        gate.set()
        await asking

    run(scenario())
    assert replica.log.log_end_offset == 1
