"""Rows to record batches, and batches to a producer's transaction."""

from random import Random

import pytest

from snakka.client.partitioner import partition_for_key
from snakka.client.records import TopicPartition
from snakka.pipeline.encoding import Encoded, Encoder, for_producer, next_sequence
from snakka.pipeline.errors import SchemaError
from snakka.pipeline.rows import Row
from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.records.compression import Compression

T = TopicPartition("t", 0)


def encoder(partitions: int = 1, batch_bytes: int = 1 << 20) -> Encoder:
    return Encoder(
        lambda _: partitions,
        1000,
        batch_bytes=batch_bytes,
        compression=Compression.ZSTD,
        rng=Random(1),
    )


def only(encoded: Encoded) -> Batch:
    (batch,) = batches(encoded.data)
    batch.verify_crc()
    return batch


def test_a_batch_holds_the_rows_in_order() -> None:
    gathering = encoder()
    headers = (("h", b"1"), ("h", None))
    assert gathering.add(Row("t", None, b"k", b"v", headers)) is None
    assert gathering.add(Row("t", 0, None, None, ())) is None
    (encoded,) = gathering.finish()
    assert encoded.where == T
    records = list(only(encoded).records())
    assert [tuple(each) for each in records] == [
        (0, 1000, b"k", b"v", headers),
        (1, 1000, None, None, ()),
    ]


def test_a_full_batch_is_handed_out() -> None:
    gathering = encoder(batch_bytes=100)
    assert gathering.add(Row("t", 0, None, bytes(60), ())) is None
    full = gathering.add(Row("t", 0, None, bytes(60), ()))
    assert full is not None
    assert only(full).header.record_count == 2
    assert list(gathering.finish()) == []


def test_rows_go_where_javas_producer_would_send_them() -> None:
    gathering = encoder(partitions=7)
    keys = [b"%d" % i for i in range(50)]
    for key in keys:
        gathering.add(Row("t", None, key, b"", ()))
    gathering.add(Row("t", 3, b"any", b"given", ()))
    found = {
        (encoded.where.partition, record.key)
        for encoded in gathering.finish()
        for record in only(encoded).records()
    }
    assert found == {(partition_for_key(key, 7), key) for key in keys} | {(3, b"any")}


def test_rows_without_a_key_stay_together_until_a_batch_is_full() -> None:
    gathering = encoder(partitions=50, batch_bytes=100)
    where = [
        full.where.partition
        for _ in range(100)
        if (full := gathering.add(Row("t", None, None, bytes(60), ()))) is not None
    ]
    assert len(where) == 50
    assert len(set(where)) > 10


def test_a_partition_that_is_not_there() -> None:
    with pytest.raises(SchemaError, match="column partition: is 2, and t has 2 partitions"):
        encoder(partitions=2).add(Row("t", 2, None, b"", ()))


def test_a_batch_becomes_part_of_a_transaction_without_its_records_being_touched() -> None:
    gathering = encoder()
    for i in range(3):
        gathering.add(Row("t", 0, None, b"%d" % i, ()))
    plain = only(next(gathering.finish()))
    owned = only(Encoded(T, bytes(for_producer(plain, 77, 5, 9))))
    assert owned.header.is_transactional
    assert (owned.header.producer_id, owned.header.producer_epoch) == (77, 5)
    assert owned.header.base_sequence == 9
    assert owned.header.compression is Compression.ZSTD
    assert list(owned.records()) == list(plain.records())


def test_sequences_begin_again_after_the_largest() -> None:
    assert next_sequence(0, 5) == 5
    assert next_sequence((1 << 31) - 3, 5) == 2
