"""What a partition remembers of transactions that it asks for (KIP-890)."""

import pytest

from snakka.protocol.records.batch import BatchHeader
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.replication.errors import UnverifiedTransactionError
from snakka.replication.verification import PRODUCERS_MAX, Verifications
from snakka.storage.errors import OutOfOrderSequenceError


def header(epoch: int = 0, sequence: int = 0) -> BatchHeader:
    return BatchHeader.read(
        build_batch(
            [Record(0, 0, None, b"x")],
            producer_id=7,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
    )


def test_only_what_is_confirmed_passes() -> None:
    verifications = Verifications()
    begun = verifications.begin(7, 0, 0)
    with pytest.raises(UnverifiedTransactionError):
        begun.check(header())
    begun.is_confirmed = True
    begun.check(header())
    with pytest.raises(UnverifiedTransactionError):
        begun.check(header(epoch=1))


def test_batches_of_one_transaction_share_a_verification() -> None:
    verifications = Verifications()
    begun = verifications.begin(7, 0, 5)
    assert verifications.begin(7, 0, 3) is begun
    begun.is_confirmed = True
    begun.check(header(sequence=3))
    with pytest.raises(OutOfOrderSequenceError):
        begun.check(header(sequence=5))


def test_the_end_and_a_new_epoch_begin_another() -> None:
    verifications = Verifications()
    first = verifications.begin(7, 0, 0)
    verifications.end(7)
    second = verifications.begin(7, 0, 0)
    third = verifications.begin(7, 1, 0)
    assert len({id(each) for each in (first, second, third)}) == 3


def test_a_fenced_producer_does_not_replace_its_successor() -> None:
    verifications = Verifications()
    begun = verifications.begin(7, 1, 0)
    verifications.begin(7, 0, 0).is_confirmed = True
    assert verifications.begin(7, 1, 0) is begun
    assert not begun.is_confirmed
    assert not verifications.begin(7, 0, 0).is_confirmed


def test_there_is_a_limit() -> None:
    verifications = Verifications()
    first = verifications.begin(0, 0, 0)
    for producer_id in range(1, PRODUCERS_MAX):
        verifications.begin(producer_id, 0, 0)
    assert verifications.begin(0, 0, 0) is first
    verifications.begin(PRODUCERS_MAX, 0, 0)
    assert verifications.begin(0, 0, 0) is not first
