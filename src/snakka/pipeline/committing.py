"""The driver's commit of a write: all that was staged, and what it was, in one transaction.

Here is the second half of the protocol that sink.py describes. An attempt begins by taking the
transactional id over, which ends whatever was under way under it, and asks then whether the version
is committed already. So an attempt whose end is not known is simply followed by another.

Not here: staging (staging.py), the transaction's requests (client/transactions.py).
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Final, TypeVar

from snakka.client.batching import Identity
from snakka.client.committed import fetch_offsets
from snakka.client.errors import ClientError, KafkaError, UnreachableError
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.records import TopicPartition
from snakka.client.transactions import Transactions
from snakka.pipeline.cluster_thread import ClusterThread
from snakka.pipeline.encoding import for_producer, next_sequence
from snakka.pipeline.errors import DataLossError, StagedRecordsLostError
from snakka.pipeline.fetching import ReadRules, read_batches
from snakka.pipeline.offsets import OffsetRange, Offsets
from snakka.pipeline.producing import produce
from snakka.pipeline.staging import Staged
from snakka.pipeline.versions import Version
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.batch import Batch

_LOG: Final = logging.getLogger(__name__)

_T = TypeVar("_T")

SINK_PREFIX: Final = "snakka-sink-"
ATTEMPTS: Final = 10
IN_FLIGHT_MAX: Final = 16  # batches, each to another partition
_RULES: Final = ReadRules(is_read_committed=False, fail_on_data_loss=True)

# Somebody else, or a time-out, ended this attempt's transaction: the next one may do better.
_LOST_TRANSACTION: Final = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.TRANSACTION_ABORTABLE,
        ErrorCode.UNKNOWN_PRODUCER_ID,
    }
)


class Committer:
    """Commits the versions of one application, each once."""

    def __init__(
        self, thread: ClusterThread, application_id: str, staging_topic: str, timeout_ms: int
    ) -> None:
        self._thread = thread
        self._id = SINK_PREFIX + application_id
        # A group's offset is the one number that a transaction can hold beside records.
        self._place = TopicPartition(staging_topic, 0)
        self._group = GroupMember(self._id)
        self._timeout_ms = timeout_ms

    def commit(self, staged: Sequence[Staged], version: Version) -> Offsets:
        """Makes the records visible, unless they are; how far the staging topic is done with."""
        return self._retrying(lambda: self._attempt(staged, version))

    def take_over(self) -> CommittedOffset | None:
        """Ends what an earlier driver has under way; what the last commit has left."""
        self._retrying(lambda: self._thread.run(self._transactions().initialize()))
        return self.find_note()

    def find_note(self) -> CommittedOffset | None:
        """What the last commit has left."""
        work = fetch_offsets(self._thread.cluster, self._group, [self._place])
        return self._thread.run(work).get(self._place)

    def _attempt(self, staged: Sequence[Staged], version: Version) -> Offsets:
        transactions = self._transactions()
        identity = self._thread.run(transactions.initialize())
        # Only now: whoever could have committed it is fenced.
        noted = self.find_note()
        if version.is_done(noted):
            return {}
        transactions.begin()
        copy = _Copy(self._thread, transactions, self._id, identity)
        try:
            ends = copy.run(staged, self._place.topic)
            note = {self._place: version.note(noted)}
            self._thread.run(transactions.send_offsets(note, self._group))
        except Exception:
            self._abort(transactions, copy)
            raise
        transactions.stop_writing(is_committed=True)
        self._thread.run(transactions.end(is_committed=True))
        return ends

    def _retrying(self, attempt: Callable[[], _T]) -> _T:
        for left in reversed(range(ATTEMPTS)):
            try:
                return attempt()
            except ClientError as error:
                if not left or not _may_pass(error):
                    raise
                _LOG.warning("%s: is tried again: %s", self._id, error)
        raise AssertionError

    def _transactions(self) -> Transactions:
        return Transactions(self._thread.cluster, self._id, self._timeout_ms)

    def _abort(self, transactions: Transactions, copy: "_Copy") -> None:
        """Readers need not wait for the time-out of what cannot be committed any more."""
        copy.wait()
        with suppress(ClientError):
            transactions.stop_writing(is_committed=False)
            self._thread.run(transactions.end(is_committed=False))


class _Copy:
    """Staged batches to the partitions they are for, as parts of a transaction."""

    def __init__(
        self,
        thread: ClusterThread,
        transactions: Transactions,
        transactional_id: str,
        identity: Identity,
    ) -> None:
        self._thread = thread
        self._transactions = transactions
        self._id = transactional_id
        self._identity = identity
        self._sequences: dict[TopicPartition, int] = {}
        self._in_flight: dict[TopicPartition, Future[int]] = {}

    def run(self, staged: Sequence[Staged], topic: str) -> Offsets:
        """Where each staging partition was read to."""
        ends: Offsets = {}
        by_partition: dict[int, dict[int, Staged]] = {}
        for each in staged:
            by_partition.setdefault(each.partition, {})[each.offset] = each
        for partition, wanted in by_partition.items():
            where = TopicPartition(topic, partition)
            for batch, target in _staged_batches(self._thread, where, wanted):
                self._send(batch, target)
                ends[where] = batch.header.next_offset
        for sent in self._in_flight.values():
            sent.result()
        return ends

    def wait(self) -> None:
        """Returns when nothing is on its way any more, whatever became of it."""
        wait(self._in_flight.values())

    def _send(self, batch: Batch, target: TopicPartition) -> None:
        """Sends a batch after the one before it to the same partition."""
        before = self._in_flight.pop(target, None)
        if before is None and len(self._in_flight) >= IN_FLIGHT_MAX:
            before = self._in_flight.pop(next(iter(self._in_flight)))
        if before is not None:
            before.result()
        sequence = self._sequences.get(target, 0)
        self._sequences[target] = next_sequence(sequence, batch.header.record_count)
        data = for_producer(batch, self._identity.producer_id, self._identity.epoch, sequence)
        self._in_flight[target] = self._thread.submit(self._produce(target, data))

    async def _produce(self, target: TopicPartition, data: bytearray) -> int:
        if self._transactions.must_announce(target):
            await self._transactions.announce(target)
        return await produce(
            self._thread.cluster,
            target,
            data,
            transactional_id=self._id,
            version_max=self._transactions.produce_version_max,
        )


def _staged_batches(
    thread: ClusterThread, where: TopicPartition, wanted: Mapping[int, Staged]
) -> Iterator[tuple[Batch, TopicPartition]]:
    """The batches that are wanted of a staging partition, known by offset and checksum."""
    found = 0
    through = OffsetRange(where, min(wanted), max(wanted) + 1)
    try:
        for each in read_batches(thread, through, 0, _RULES):
            staged = wanted.get(each.batch.header.base_offset)
            if staged is not None and staged.crc == each.batch.header.crc:
                found += 1
                yield each.batch, staged.target
    except DataLossError as error:
        raise StagedRecordsLostError(where.topic) from error
    if found < len(wanted):
        raise StagedRecordsLostError(where.topic)


def _may_pass(error: ClientError) -> bool:
    if isinstance(error, KafkaError):
        return error.is_retriable or error.code in _LOST_TRANSACTION
    return isinstance(error, UnreachableError)
