"""What one fetch brought of a partition, decoded when somebody looks: by record or as columns."""

from collections.abc import Iterator
from dataclasses import dataclass

from snakka.client.aborted import AbortedFilter, AbortedTransaction
from snakka.client.records import ConsumedRecord, TopicPartition
from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.records.column_buffers import Columns
from snakka.protocol.records.columns import END_OF_LOG, decode_columns
from snakka.protocol.types import Buffer


@dataclass(frozen=True, slots=True)
class Fetched:
    """Whole batches, of which the first may begin before `start_offset`.

    `aborted` is None where aborted transactions are to be seen, too. `generation` tells whether
    the reader has gone elsewhere since.
    """

    partition: TopicPartition
    start_offset: int
    next_offset: int
    data: Buffer
    aborted: tuple[AbortedTransaction, ...] | None
    check_crcs: bool
    generation: object

    def records(self) -> Iterator[ConsumedRecord]:
        """The records that a reader is to see, in order."""
        wanted = AbortedFilter(self.aborted or ())
        topic, partition = self.partition
        for batch in self.batches():
            if not wanted.is_wanted(batch):
                continue
            header = batch.header
            for record in batch.records():
                if record.offset >= self.start_offset:
                    yield ConsumedRecord(
                        topic,
                        partition,
                        record.offset,
                        record.timestamp_ms,
                        header.timestamp_type,
                        record.key,
                        record.value,
                        record.headers,
                        header.leader_epoch,
                    )

    def columns(self, end_offset: int = END_OF_LOG) -> Iterator[Columns]:
        """The same records before `end_offset`, in Arrow's layout; records/arrow.py goes on."""
        return decode_columns(
            self.batches(),
            start_offset=self.start_offset,
            end_offset=end_offset,
            is_wanted=AbortedFilter(self.aborted or ()).is_wanted,
        )

    def batches(self) -> Iterator[Batch]:
        """All batches as they lie in the log, markers and aborted ones included."""
        for batch in batches(self.data, ignore_partial_tail=True):
            if self.check_crcs:
                batch.verify_crc()
            yield batch


def next_offset_after(data: Buffer, start_offset: int) -> int:
    """Where to go on after these batches."""
    after = start_offset
    for batch in batches(data, ignore_partial_tail=True):
        after = max(after, batch.header.next_offset)
    return after
