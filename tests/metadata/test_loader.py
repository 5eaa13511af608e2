import pytest

from snakka.metadata.errors import ReplayError
from snakka.metadata.image import Provenance
from snakka.metadata.loader import MetadataLoader
from snakka.metadata.snapshot import snapshot_records
from snakka.protocol.internal.metadata import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from tests.metadata.making import replayed, topic, topic_id

BEGIN = BeginTransactionRecord(name="two topics")


def at(offset: int) -> Provenance:
    return Provenance(offset, 1, 0)


def test_a_batch_shows_at_once() -> None:
    loader = MetadataLoader()
    published = loader.load(topic("a", 1, (1,)), at(1))
    assert loader.image is published.image
    assert published.image.provenance.offset == 1
    assert [each.name for each in published.delta.topics.created()] == ["a"]


def test_a_transaction_shows_when_it_ends() -> None:
    loader = MetadataLoader()
    loader.load([*topic("before", 1, (1,)), BEGIN, *topic("a", 2, (1,))], at(3))
    assert loader.is_in_transaction
    assert set(loader.image.topics.ids) == {"before"}
    published = loader.load([*topic("b", 3, (1,)), EndTransactionRecord()], at(6))
    assert {each.name for each in published.delta.topics.created()} == {"a", "b"}


def test_a_transaction_that_ended_is_none() -> None:
    loader = MetadataLoader()
    loader.load([BEGIN, EndTransactionRecord()], at(1))
    assert not loader.is_in_transaction


def test_an_aborted_transaction_never_shows() -> None:
    loader = MetadataLoader()
    loader.load([BEGIN, *topic("a", 2, (1,))], at(3))
    loader.load([AbortTransactionRecord(), *topic("b", 3, (1,))], at(6))
    assert set(loader.image.topics.ids) == {"b"}


@pytest.mark.parametrize("batch", [[EndTransactionRecord()], [BEGIN, BEGIN]])
def test_transactions_neither_nest_nor_end_twice(batch: list[BeginTransactionRecord]) -> None:
    with pytest.raises(ReplayError):
        MetadataLoader().load(batch, at(1))


def test_a_snapshot_tells_what_has_gone() -> None:
    loader = MetadataLoader(replayed(*topic("old", 1, (1,)), *topic("kept", 2, (1,), (2,))))
    newer = replayed(*topic("kept", 2, (1,), (3,)), *topic("new", 3, (1,)))
    delta, image = loader.install(snapshot_records(newer), at(9))
    assert image.topics == newer.topics
    assert list(delta.topics.removed) == [topic_id(1)]
    assert [each.name for each in delta.topics.created()] == ["new"]
    assert [each[0] for each in delta.topics.changed[topic_id(2)].changed()] == [1]
