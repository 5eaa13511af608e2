"""The sink `snakka` as Spark calls it, and the protocol by which a micro-batch is written once.

Spark gives a sink this much: `write` runs in tasks, which may fail, be repeated, or run twice at
once; `commit` runs in the driver with what one attempt of each task returned, and after a crash
Spark repeats the micro-batch, tasks and commit, under the same query id and batch id. So the commit
has to be one atomic step that can tell whether it has been done. Kafka's atomic step is the end of
a transaction, which belongs to one producer. Tasks cannot share one, as the sequences of a producer
count up within a partition whoever writes; and with transactions of their own, prepared and ended
one by one (KIP-939), a crash between two ends would have to be mended by whoever remembers them.

Therefore, in mode exactly-once:

1. Tasks write finished record batches to the application's staging topic (staging.py), and return
   where each lies, its checksum and the partition it is for. A failed task leaves garbage there and
   nothing else.
2. The driver's commit (committing.py) takes over the transactional id `snakka-sink-<query id>`.
   That fences every earlier driver, waits for an end under way, and aborts what has not ended.
3. It reads the offset that the group of the same name has committed: the last batch id that is
   visible. If that is this batch id or a later one there is nothing to do.
4. It copies the staged batches to their partitions (their records are not walked), commits the
   batch id as the group's offset, and ends the transaction: both become visible together.
5. It deletes what is staged, which costs only room if it fails.

Killed before 4 ends, nothing is visible and the repeated micro-batch starts anew; killed after,
step 3 finds it done. A driver that was thought dead is fenced by 2 or stopped by 3. The transaction
is open only during the commit, so readers do not wait for tasks, and no time-out can end what a
task has prepared. The price: records travel twice, the second time through the driver, as batches.

What it rests on: the staging topic must not be deleted while the query may be resumed, and the
group's offset must outlive it (`offsets.retention.minutes`, 7 days; each batch renews it). A lost
checkpoint is a new query, and writes anew whatever its source reads anew.

A batch write is one version of an application that ends with it, so its staging topic goes at the
end; with `txnAppId` and `txnVersion` it is repeatable just as a micro-batch is, which is what a
function of `foreachBatch` wants. With `txnState` it is a step from one state to the next, for those
who keep more than a number there: how far they are in their sources. In mode at-least-once tasks
write to the topic at once.
"""

import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from random import Random
from typing import Any, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from snakka.client.errors import ClientError
from snakka.client.records import TopicPartition
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread, connect
from snakka.pipeline.committing import Committer
from snakka.pipeline.encoding import Encoded, Encoder
from snakka.pipeline.errors import OptionError
from snakka.pipeline.producing import produce
from snakka.pipeline.rows import check_schema, rows
from snakka.pipeline.sink_options import SinkOptions
from snakka.pipeline.spark_streaming import DataSourceStreamArrowWriter
from snakka.pipeline.staging import (
    PARTITIONS,
    STAGING_PREFIX,
    Staged,
    delete_topic,
    delete_up_to,
    ensure_topic,
)
from snakka.pipeline.versions import Numbered, Version
from snakka.pipeline.worker import settle_in
from snakka.protocol.records.batch import BatchHeader

_LOG: Final = logging.getLogger(__name__)

QUERY_ID: Final = "sql.streaming.queryId"
BATCH_ID: Final = "streaming.sql.batchId"
ONLY_VERSION: Final = Numbered(0)


class Written(WriterCommitMessage):
    """What one task did; for at-least-once nothing is left to do."""

    def __init__(self, application_id: str, staged: Sequence[Staged]) -> None:
        self.application_id = application_id
        self.staged = tuple(staged)


class _Writer:
    """What the writers of batches and of streams have in common."""

    def __init__(self, options: SinkOptions, schema: StructType, *, overwrite: bool) -> None:
        if overwrite:
            raise OptionError("a topic cannot be overwritten: write with mode append")
        check_schema(schema, options.topic, include_timestamps=options.include_timestamps)
        self._options = options
        self._address = ClusterAddress(options.bootstrap_servers, options.client_settings)

    def _thread(self) -> ClusterThread:
        return connect(self._address)

    def _write(self, batches: Iterable[Any], application_id: str) -> Written:
        """A task: rows to batches, and these to the staging topic or to their own."""
        settle_in()
        sending = _Sending(self._thread(), STAGING_PREFIX + application_id, self._options)
        encoder = Encoder(
            sending.partition_count,
            time.time_ns() // 1_000_000,
            batch_bytes=self._options.batch_bytes,
            compression=self._options.compression,
            rng=Random(),
        )
        for batch in batches:
            for row in rows(
                batch,
                self._options.topic,
                include_timestamps=self._options.include_timestamps,
            ):
                full = encoder.add(row)
                if full is not None:
                    sending.send(full)
        for rest in encoder.finish():
            sending.send(rest)
        return Written(application_id, sending.finish())

    def _commit(self, messages: Sequence[Any], version: Version, *, is_last: bool) -> None:
        """The driver: everything that the tasks have staged becomes visible at once."""
        application_id = messages[0].application_id
        topic = STAGING_PREFIX + application_id
        if not self._options.is_exactly_once:
            return
        staged = [each for message in messages for each in message.staged]
        thread = self._thread()
        timeout_ms = self._options.transaction_timeout_ms
        ends = Committer(thread, application_id, topic, timeout_ms).commit(staged, version)
        try:
            thread.run(
                delete_topic(thread.cluster, topic)
                if is_last
                else delete_up_to(thread.cluster, ends)
            )
        except ClientError as error:
            _LOG.warning("%s is not cleared: %s", topic, error)


class StreamWriter(_Writer, DataSourceStreamArrowWriter):
    """Writes micro-batches."""

    def write(self, iterator: Iterator[Any]) -> Written:
        context = TaskContext.get()
        query_id = None if context is None else context.getLocalProperty(QUERY_ID)
        if query_id is None:
            raise OptionError("Spark did not tell which query this is: its id is needed")
        return self._write(iterator, query_id)

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        self._commit(messages, Numbered(batchId), is_last=False)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """Nothing is visible, and what is staged goes with the next commit."""


class BatchWriter(_Writer, DataSourceArrowWriter):
    """Writes once."""

    def __init__(self, options: SinkOptions, schema: StructType, *, overwrite: bool) -> None:
        super().__init__(options, schema, overwrite=overwrite)
        # Made in the driver, and sent to the tasks with the writer.
        self._application = options.application or (f"batch-{uuid.uuid4()}", ONLY_VERSION)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        return self._write(iterator, self._application[0])

    def commit(self, messages: list[Any]) -> None:
        self._commit(messages, self._application[1], is_last=self._options.application is None)

    def abort(self, messages: list[Any]) -> None:
        """Nothing is visible."""
        if self._options.is_exactly_once and self._options.application is None:
            thread = self._thread()
            thread.run(delete_topic(thread.cluster, STAGING_PREFIX + self._application[0]))


class _Sending:
    """A task's batches on their way, one at a time, so that they lie in the order of the rows."""

    def __init__(self, thread: ClusterThread, staging_topic: str, options: SinkOptions) -> None:
        self._thread = thread
        self._sent: list[tuple[Encoded, Future[int]]] = []
        self._staging: TopicPartition | None = None
        if options.is_exactly_once:
            thread.run(ensure_topic(thread.cluster, staging_topic))
            context = TaskContext.get()
            task = 0 if context is None else context.partitionId()
            self._staging = TopicPartition(staging_topic, task % PARTITIONS)
        self._staged: list[Staged] = []

    def partition_count(self, topic: str) -> int:
        found = self._thread.run(self._thread.cluster.get_topic(topic, may_create=True))
        return len(found.partitions)

    def send(self, encoded: Encoded) -> None:
        """Waits for the batch before, while which this one was made."""
        self._wait()
        where = self._staging or encoded.where
        work = produce(self._thread.cluster, where, encoded.data)
        self._sent.append((encoded, self._thread.submit(work)))

    def finish(self) -> list[Staged]:
        self._wait()
        return self._staged

    def _wait(self) -> None:
        while self._sent:
            encoded, offset = self._sent.pop()
            at = offset.result()
            if self._staging is not None:
                crc = BatchHeader.read(encoded.data).crc
                self._staged.append(Staged(self._staging.partition, at, crc, encoded.where))
