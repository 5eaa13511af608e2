"""A transaction from its first request to its last marker, by requests to one broker."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snakka.apis.cluster import OFFSETS_TOPIC
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from snakka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from snakka.storage.compaction.compact import Compaction, compact, look_at
from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from tests.apis.broker import NOW_MS
from tests.apis.transacting import FOLLOWER, TransactingBroker, TransactingClient, transact
from tests.storage.making import SMALL_MAP

both_versions = pytest.mark.parametrize("is_v2", [False, True], ids=["version-1", "version-2"])


async def begin(client: TransactingClient) -> None:
    """Version 1 says beforehand what it is to write to; version 2 leaves that to the broker."""
    if not client.is_v2:
        assert await client.add(0, 1) == ["NONE", "NONE"]
        assert await client.add_offsets() == "NONE"


@both_versions
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_records_and_offsets_end_together(tmp_path: Path, is_v2: bool, committed: bool) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        assert await client.init() == "NONE"
        for round_ in range(1, 4):
            await begin(client)
            for index in range(2):
                assert await client.produce(index) == "NONE"
            assert await client.commit_offset(round_) == "NONE"
            assert broker.replica().log.last_stable_offset == 2 * round_ - 2
            assert await broker.offset() == -2
            assert await client.end(committed=committed) == "NONE"
            for index in range(2):
                log = broker.replica(index).log
                assert log.last_stable_offset == log.log_end_offset == 2 * round_
            assert await broker.offset() == (round_ if committed else -1)

    transact(tmp_path, body, is_v2=is_v2)


@both_versions
def test_nothing_is_appended_outside_of_a_transaction(tmp_path: Path, is_v2: bool) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:  # pitfall 13
        await client.init()
        if not is_v2:
            assert await client.produce() == "INVALID_TXN_STATE"
            assert await client.commit_offset(1) == "INVALID_TXN_STATE"
            assert await client.commit_offset(1, version=4) == "TRANSACTION_ABORTABLE"
            assert await client.add(0) == ["NONE"]
            assert await client.produce(1) == "INVALID_TXN_STATE"
        second = TransactingClient(broker, is_v2=is_v2)
        while await second.init() != "NONE":
            await asyncio.sleep(0)
        assert await client.produce() == "INVALID_PRODUCER_EPOCH"
        assert await client.commit_offset(1) == "INVALID_PRODUCER_EPOCH"
        assert broker.replica(1).log.log_end_offset == 0
        assert broker.replicas.get(OFFSETS_TOPIC, 0).log.log_end_offset == 0

    transact(tmp_path, body, is_v2=is_v2)


def test_an_end_is_complete_once_all_markers_are_committed(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:  # pitfall 2
        await client.init()
        await client.produce()
        replica = broker.replica()
        replica.on_follower_fetch(FOLLOWER, 1)
        assert await client.end() == "NONE"
        assert replica.log.log_end_offset == 2  # the marker is there
        for _ in range(3):
            await asyncio.sleep(0.01)
            assert await broker.state() == "PrepareCommit"
        assert replica.log.last_stable_offset == 0  # pitfall 12
        replica.on_follower_fetch(FOLLOWER, 2)
        assert replica.log.last_stable_offset == 2
        await asyncio.sleep(0.01)
        assert await broker.state() == "CompleteCommit"

    transact(tmp_path, body, is_replicated=True)


def test_a_marker_that_comes_late_does_not_end_the_next_transaction(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:  # pitfall 14
        await client.init()
        await client.produce()
        await client.end()
        late = client.producer
        await client.produce()
        marker = WritableTxnMarker(
            producer_id=late.producer_id,
            producer_epoch=late.producer_epoch,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0])],
            coordinator_epoch=5,
            transaction_version=2,
        )
        request = WriteTxnMarkersRequest(markers=[marker])
        answer = await broker.ask(request, 2, WriteTxnMarkersResponse)
        (partition,) = answer.markers[0].topics[0].partitions
        assert partition.error_code == ErrorCode.INVALID_PRODUCER_EPOCH
        assert broker.replica().log.last_stable_offset == 2
        assert await client.end() == "NONE"
        assert broker.replica().log.last_stable_offset == 4

    transact(tmp_path, body)


@both_versions
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_offsets_outlive_restarts_and_compaction(
    tmp_path: Path, is_v2: bool, committed: bool
) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:  # pitfall 7
        await client.init()
        for round_, ends_well in enumerate((True, True, committed), 1):
            await begin(client)
            await client.commit_offset(round_)
            assert await client.end(committed=ends_well) == "NONE"
        expected = 3 if committed else 2
        log = broker.replicas.get(OFFSETS_TOPIC, 0).log
        log.config = LogConfig(is_compacted=True, is_deleted=False, min_cleanable_dirty_ratio=0)
        for pass_ in range(3):  # the first gives markers their time, and the others are after it
            now_ms = NOW_MS + pass_ * 10 * log.config.delete_retention_ms
            await begin(client)  # something new, so that there is something to clean
            await client.commit_offset(9)
            await broker.lead_offsets_again()
            assert await broker.offset() == -2
            await client.end(committed=False)
            await compact_all(log, now_ms)
            await broker.lead_offsets_again()
            assert await broker.offset() == expected
        assert log.segments[0].size_bytes < 600

    transact(tmp_path, body, is_v2=is_v2)


async def compact_all(log: Log, now_ms: int) -> None:
    log.roll(now_ms=now_ms)
    with ThreadPoolExecutor(1) as thread:
        pass_ = Compaction(log, look_at(log, None, now_ms=now_ms), SMALL_MAP, now_ms=now_ms)
        assert await compact(pass_, thread) is not None


def test_a_topic_that_was_deleted_holds_up_no_transaction(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        await client.init()
        await client.produce()
        broker.delete_topic()
        await client.end()
        assert await broker.state() == "CompleteCommit"

    transact(tmp_path, body)


def test_a_marker_fits_whatever_the_topic_limits(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        await client.init()
        await client.produce()
        log = broker.replica().log
        log.config = type(log.config)(max_message_bytes=10)
        await client.end()
        assert await broker.state() == "CompleteCommit"
        assert log.last_stable_offset == 2

    transact(tmp_path, body)


def test_partitions_are_added_together_or_not_at_all(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        await client.init()
        assert await client.add(0, 7) == ["OPERATION_NOT_ATTEMPTED", "UNKNOWN_TOPIC_OR_PARTITION"]
        assert await client.add(0, topic="u") == ["UNKNOWN_TOPIC_OR_PARTITION"]
        assert await client.add(0, topic=OFFSETS_TOPIC) == ["TOPIC_AUTHORIZATION_FAILED"]
        assert await broker.state() == "Empty"

    transact(tmp_path, body, is_v2=False)


def test_older_clients_know_a_fenced_producer_by_its_epoch(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        await client.init()
        await TransactingClient(broker, is_v2=False).init()
        assert await client.add(0, version=3) == ["PRODUCER_FENCED"]
        assert await client.add(0, version=1) == ["INVALID_PRODUCER_EPOCH"]

    transact(tmp_path, body, is_v2=False)


def test_brokers_look_up_and_add_for_many_transactions_at_once(tmp_path: Path) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        await client.init()

        async def ask(*names: str, verify_only: bool) -> list[list[str]]:
            request = AddPartitionsToTxnRequest(
                transactions=[
                    AddPartitionsToTxnTransaction(
                        transactional_id=name,
                        producer_id=client.producer.producer_id,
                        producer_epoch=client.producer.producer_epoch,
                        verify_only=verify_only,
                        topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
                    )
                    for name in names
                ]
            )
            answer = await broker.ask(request, 5, AddPartitionsToTxnResponse)
            return [
                [each.transactional_id]
                + [
                    ErrorCode(result.partition_error_code).name
                    for topic in each.topic_results
                    for result in topic.results_by_partition
                ]
                for each in answer.results_by_transaction
            ]

        unknown = ["other", "INVALID_PRODUCER_ID_MAPPING"]
        assert await ask("tx", "other", verify_only=True) == [
            ["tx", "TRANSACTION_ABORTABLE"],
            unknown,
        ]
        assert await ask("tx", "other", verify_only=False) == [["tx", "NONE"], unknown]
        assert await ask("tx", verify_only=True) == [["tx", "NONE"]]

    transact(tmp_path, body)


@both_versions
def test_offsets_of_unknown_topics_and_generations(tmp_path: Path, is_v2: bool) -> None:
    async def body(broker: TransactingBroker, client: TransactingClient) -> None:
        await client.init()
        await begin(client)
        assert await client.commit_offset(1, topic="u") == "UNKNOWN_TOPIC_OR_PARTITION"
        assert await client.commit_offset(1, generation=3) == "ILLEGAL_GENERATION"

    transact(tmp_path, body, is_v2=is_v2)
