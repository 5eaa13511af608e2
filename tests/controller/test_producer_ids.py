import pytest

from snakka.controller.producer_ids import BLOCK_SIZE, allocate_producer_ids
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import ProducerIdsRecord
from snakka.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from tests.controller.making import Cluster, brokers


def test_blocks_follow_one_another_whoever_asks() -> None:
    cluster = Cluster(*brokers(1, 2))
    starts = []
    for broker_id in (1, 2, 1):
        asked = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=100)
        response = cluster.decide(allocate_producer_ids(cluster.view, asked))
        assert (response.error_code, response.producer_id_len) == (ErrorCode.NONE, BLOCK_SIZE)
        starts.append(response.producer_id_start)
    assert starts == [0, 1_000, 2_000]


@pytest.mark.parametrize(("broker_id", "epoch"), [(1, 99), (9, 100)])
def test_a_stale_broker_gets_none(broker_id: int, epoch: int) -> None:
    cluster = Cluster(*brokers(1))
    asked = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
    decision = allocate_producer_ids(cluster.view, asked)
    assert decision.response.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert not decision.records


def test_ids_do_not_wrap_around() -> None:
    last = ProducerIdsRecord(broker_id=1, broker_epoch=1, next_producer_id=2**63 - BLOCK_SIZE)
    cluster = Cluster(*brokers(1), last)
    asked = AllocateProducerIdsRequest(broker_id=1, broker_epoch=100)
    decision = allocate_producer_ids(cluster.view, asked)
    assert decision.response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert not decision.records
