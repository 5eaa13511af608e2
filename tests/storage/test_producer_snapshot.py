import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.storage.errors import CorruptFileError
from snakka.storage.producer_snapshot import decode_snapshot, encode_snapshot
from snakka.storage.producer_state import BatchMetadata, ProducerEntry

INT32 = st.integers(0, (1 << 31) - 1)
INT64 = st.integers(0, (1 << 63) - 1)


@st.composite
def entries(draw: st.DrawFn) -> ProducerEntry:
    timestamp = draw(INT64)
    batch = BatchMetadata(draw(INT32), draw(INT64), draw(INT32), timestamp)
    return ProducerEntry(
        producer_id=draw(INT64),
        producer_epoch=draw(st.integers(0, (1 << 15) - 1)),
        coordinator_epoch=draw(st.integers(-1, 100)),
        last_timestamp=timestamp,
        current_txn_first_offset=draw(st.none() | INT64),
        batches=draw(st.sampled_from([(), (batch,)])),
    )


@given(st.lists(entries(), max_size=5))
def test_round_trip(written: list[ProducerEntry]) -> None:
    assert decode_snapshot(encode_snapshot(written), "x") == written


def test_only_the_last_batch_is_kept() -> None:
    batches = tuple(BatchMetadata(n, n, 0, n) for n in range(3))
    entry = ProducerEntry(7, 0, last_timestamp=2, batches=batches)
    (read,) = decode_snapshot(encode_snapshot([entry]), "x")
    assert read.batches == batches[2:]


def test_any_flipped_bit_is_noticed() -> None:
    data = encode_snapshot([ProducerEntry(7, 1)])
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 4
        with pytest.raises(CorruptFileError):
            decode_snapshot(bytes(damaged), "x")
    for size in range(len(data)):
        with pytest.raises(CorruptFileError):
            decode_snapshot(data[:size], "x")
