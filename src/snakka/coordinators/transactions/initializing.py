"""InitProducerId: a producer takes hold of its transactional id, and whoever held it is fenced.

KIP-98; KIP-360 lets a producer that says who it was go on with the next epoch after an error.
"""

from typing import NamedTuple

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.transactions import transitions
from snakka.coordinators.transactions.metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    State,
    TransactionMetadata,
    is_exhausted,
)
from snakka.protocol.error_codes import ErrorCode


class NeedsProducerIdError(Exception):
    """The decision takes a producer id that nobody was given yet; come again with one."""


class Producer(NamedTuple):
    """Who a client says that it is."""

    producer_id: int
    producer_epoch: int


class Initialized(NamedTuple):
    """What is to be written, and the epoch that the producer had, where it told."""

    metadata: TransactionMetadata
    last_epoch: int


def take(new_producer_id: int | None) -> int:
    if new_producer_id is None:
        raise NeedsProducerIdError
    return new_producer_id


def initialize(
    current: TransactionMetadata,
    last_epoch: int,
    expected: Producer | None,
    timeout_ms: int,
    new_producer_id: int | None,
    now_ms: int,
) -> Initialized:
    """A producer of an id that is known and in no transaction."""
    epoch = current.producer_epoch
    if current.is_epoch_exhausted and (expected is None or expected.producer_epoch == epoch):
        producer_id = take(new_producer_id)
        restarted = transitions.restart(current, producer_id, 0, timeout_ms, now_ms)
        return Initialized(restarted, NO_PRODUCER_EPOCH if expected is None else epoch)
    if expected is None or expected.producer_epoch == epoch:
        next_epoch, last = epoch + 1, NO_PRODUCER_EPOCH if expected is None else epoch
    elif expected.producer_epoch == last_epoch:
        next_epoch, last = epoch, last_epoch  # the answer to the first attempt was lost
    else:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
    restarted = transitions.restart(current, current.producer_id, next_epoch, timeout_ms, now_ms)
    return Initialized(restarted, last)


def check_expected(current: TransactionMetadata, last_epoch: int, expected: Producer) -> None:
    """Raises where another producer has taken over from the one that asks."""
    is_retry_of_rotation = expected.producer_id == current.previous_producer_id and is_exhausted(
        expected.producer_epoch
    )
    if expected.producer_id != current.producer_id and not is_retry_of_rotation:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
    known = (current.producer_epoch, last_epoch)
    # What is ongoing is not to be aborted by somebody who was fenced before it began.
    if current.state is State.ONGOING and expected.producer_epoch not in known:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)


def expected_producer(producer_id: int, producer_epoch: int) -> Producer | None:
    """Both of id and epoch, or neither."""
    if (producer_id == NO_PRODUCER_ID) != (producer_epoch == NO_PRODUCER_EPOCH):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    return None if producer_id == NO_PRODUCER_ID else Producer(producer_id, producer_epoch)
