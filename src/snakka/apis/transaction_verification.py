"""Before a transactional batch is appended: its coordinator says that the partition takes part.

KIP-890. Clients of transactions of version 2 tell nobody beforehand, so the partition is added to
their transaction; that of others is looked up. Shared by Produce and TxnOffsetCommit.

Not here: what is kept of the answer (replication/verification.py).
"""

import asyncio
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.apis.context import RequestContext
from snakka.apis.errors import fencing_code
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.initializing import Producer
from snakka.coordinators.transactions.metadata import TRANSACTION_V2
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.batch import BatchHeader
from snakka.replication.replica import Replica
from snakka.replication.verification import Verification

_NO_VERSION: Final = 1 << 15
_PASSING: Final = frozenset(
    (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.REQUEST_TIMED_OUT,
    )
)


@dataclass(frozen=True, slots=True)
class Vouching:
    """What clients of an API know, by its versions."""

    first_of_v2: int
    knows_abortable_from: int
    come_again: ErrorCode  # told where it is the transaction's coordinator that cannot answer now

    def told(self, code: ErrorCode, version: int) -> ErrorCode:
        is_concurrent = code is ErrorCode.CONCURRENT_TRANSACTIONS
        if code in _PASSING or (is_concurrent and version < self.first_of_v2):
            return self.come_again
        if code is ErrorCode.TRANSACTION_ABORTABLE and version < self.knows_abortable_from:
            return ErrorCode.INVALID_TXN_STATE
        # A producer is to abort and go on here, not to end as one that another has replaced.
        return fencing_code(code, version, _NO_VERSION)


class Unverified(NamedTuple):
    """A batch that waits for its coordinator; a copy, since the frame is overwritten meanwhile."""

    batch: bytearray
    producer: Producer
    verification: Verification

    def begun_again(self, replica: Replica) -> "Unverified":
        needed = replica.find_verification(BatchHeader.read(self.batch))
        return self if needed is None else self._replace(verification=needed)


def find_unverified(
    replica: Replica, batch: bytearray | memoryview, transactional_id: str | None
) -> Unverified | None:
    """What has to be vouched for before the replica takes the batch; None if nothing."""
    if transactional_id is None:
        raise CoordinatorError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    replica.partition.check_leader()
    header = BatchHeader.read(batch)
    needed = replica.find_verification(header)
    if needed is None or needed.is_confirmed:
        return None
    producer = Producer(header.producer_id, header.producer_epoch)
    return Unverified(bytearray(batch), producer, needed)


async def vouch(
    transactional_id: str,
    producer: Producer,
    partitions: AbstractSet[TopicPartition],
    context: RequestContext,
    vouching: Vouching,
    begin_again: Callable[[], None],
) -> Mapping[TopicPartition, ErrorCode]:
    """NONE for each partition that may be written to, or what the client is told.

    The markers of the transaction before end the verifications that wait for it; so those
    `begin_again` before the coordinator is asked again.
    """
    if context.version >= vouching.first_of_v2:
        code = await _add(transactional_id, producer, partitions, context, begin_again)
        return dict.fromkeys(partitions, vouching.told(code, context.version))
    if not context.services.verifies_transactions():
        return dict.fromkeys(partitions, ErrorCode.NONE)
    coordinator = context.services.transaction_coordinator
    codes = await coordinator.verify_partitions(transactional_id, producer, partitions)
    return {each: vouching.told(code, context.version) for each, code in codes.items()}


async def _add(
    transactional_id: str,
    producer: Producer,
    partitions: AbstractSet[TopicPartition],
    context: RequestContext,
    begin_again: Callable[[], None],
) -> ErrorCode:
    """The transaction before often is just about to end: better to wait here than at the client."""
    config = context.services.config
    pause_ms = config.get_int("add.partitions.to.txn.retry.backoff.ms")
    left_ms = config.get_int("add.partitions.to.txn.retry.backoff.max.ms")
    coordinator = context.services.transaction_coordinator
    while True:
        code = await coordinator.add_partitions(
            transactional_id, producer, partitions, TRANSACTION_V2
        )
        if code is not ErrorCode.CONCURRENT_TRANSACTIONS or left_ms < pause_ms:
            return code
        left_ms -= pause_ms
        await asyncio.sleep(pause_ms / 1000)
        begin_again()
