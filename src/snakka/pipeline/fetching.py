"""Record batches from a partition's leader, as they lie in its log.

The next answer is asked for as soon as the last one's batches are counted, so the broker and the
network work while this process decodes.

Not here: which partition and how far (planning.py), rows (reading.py).
"""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.client.aborted import AbortedFilter, AbortedTransaction
from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError, OffsetOutOfRangeError, check
from snakka.client.metadata import PartitionInfo, TopicInfo
from snakka.client.records import TopicPartition
from snakka.pipeline.broker import find_offsets
from snakka.pipeline.cluster_thread import ClusterThread
from snakka.pipeline.errors import DataLossError
from snakka.pipeline.offsets import EARLIEST, LATEST, At, OffsetRange
from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from snakka.protocol.records.batch import Batch, batches

FETCH_BYTES: Final = 8 << 20
FETCH_BYTES_MIN: Final = 1 << 20
MAX_WAIT_MS: Final = 500
NO_SESSION_EPOCH: Final = -1
LANE: Final = "fetch"


@dataclass(frozen=True, slots=True)
class ReadRules:
    """What a query asked for that matters to every read of it."""

    is_read_committed: bool = True
    fail_on_data_loss: bool = True


class FetchedBatch(NamedTuple):
    """A batch of a log, and whether its records are to be seen at all."""

    batch: Batch
    is_visible: bool


class BatchInRange(NamedTuple):
    """A batch that holds offsets of a range, of which those before `start_offset` are gone."""

    batch: Batch
    is_visible: bool
    start_offset: int


async def fetch(
    cluster: Cluster, where: TopicPartition, offset: int, max_bytes: int, rules: ReadRules
) -> list[FetchedBatch]:
    """Whole batches from the one that holds `offset` on; none while there is nothing to read."""

    async def attempt() -> PartitionData:
        leader = await cluster.get_leader(where.topic, where.partition)
        topic = await cluster.get_topic(where.topic)
        request = _request(topic, leader, offset, max_bytes, rules)
        try:
            answer = await cluster.ask_node(leader.leader_id, request, FetchResponse, lane=LANE)
            data = answer.responses[0].partitions[0]
            check(data.error_code)
        except OffsetOutOfRangeError:
            raise
        except ClientError:
            cluster.mark_stale(where.topic)
            raise
        return data

    data = await cluster.retrying(attempt)
    records = data.records or b""
    assert isinstance(records, memoryview | bytes)  # as whatever was decoded
    aborted = AbortedFilter(
        AbortedTransaction(each.first_offset, each.producer_id)
        for each in data.aborted_transactions or ()
    )
    return [
        FetchedBatch(each, aborted.is_wanted(each))
        for each in batches(records, ignore_partial_tail=True)
    ]


def _request(
    topic: TopicInfo, leader: PartitionInfo, offset: int, max_bytes: int, rules: ReadRules
) -> FetchRequest:
    """A fetch of one partition, outside of any session."""
    partition = FetchPartition(
        partition=leader.index,
        current_leader_epoch=leader.leader_epoch,
        fetch_offset=offset,
        partition_max_bytes=max_bytes,
    )
    return FetchRequest(
        max_wait_ms=MAX_WAIT_MS,
        min_bytes=1,
        max_bytes=max_bytes,
        isolation_level=int(rules.is_read_committed),
        session_epoch=NO_SESSION_EPOCH,
        topics=[FetchTopic(topic=topic.name, topic_id=topic.id, partitions=[partition])],
        forgotten_topics_data=[],
    )


def read_batches(
    thread: ClusterThread, wanted: OffsetRange, size_bytes: int, rules: ReadRules
) -> Iterator[BatchInRange]:
    """The batches that hold a range of offsets, checksums verified; the first are asked for now."""
    left_bytes = size_bytes or FETCH_BYTES
    cluster = thread.cluster

    def ask(position: int) -> Future[list[FetchedBatch]]:
        limit = max(FETCH_BYTES_MIN, min(FETCH_BYTES, left_bytes + left_bytes // 8))
        return thread.submit(fetch(cluster, wanted.where, position, limit, rules))

    def read(answer: Future[list[FetchedBatch]]) -> Iterator[BatchInRange]:
        nonlocal left_bytes
        position = start_offset = wanted.start
        while position < wanted.end:
            try:
                fetched = answer.result()
            except OffsetOutOfRangeError:
                position = thread.run(find_remaining(cluster, wanted, position, rules))
                start_offset = position
                answer = ask(position)
                continue
            for each in fetched:
                left_bytes -= each.batch.header.size_bytes
                position = max(position, each.batch.header.next_offset)
            if position < wanted.end:
                answer = ask(position)
            for each in fetched:
                each.batch.verify_crc()
                yield BatchInRange(*each, start_offset)

    return read(ask(wanted.start))


async def find_remaining(
    cluster: Cluster, wanted: OffsetRange, position: int, rules: ReadRules
) -> int:
    """Where to go on when `position` is not in the log: DataLossError, unless loss is accepted."""
    where = wanted.where
    first = await find_offsets(cluster, {where: At(EARLIEST)}, is_read_committed=False)
    last = await find_offsets(cluster, {where: At(LATEST)}, is_read_committed=False)
    start, end = first[where], last[where]
    is_deleted = position < start
    resumed = min(start, wanted.end) if is_deleted else wanted.end
    if rules.fail_on_data_loss:
        why = f"the log starts at {start}" if is_deleted else f"the log ends at {end}"
        raise DataLossError(str(OffsetRange(where, position, resumed)), why)
    return resumed
