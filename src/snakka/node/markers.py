"""Transaction markers: written to partitions that this broker leads, and brought to all leaders.

A marker is done with once it is committed: a leader that fails before could lose it, and then the
transaction would stay open there for ever.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Final

from snakka.apis.cluster import OFFSETS_TOPIC
from snakka.apis.context import MarkerWriter
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import TransactionEnd
from snakka.metadata.image import MetadataImage
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.builder import build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.replication.replicas import Replicas, wait_for_commit

_COMMIT_TIMEOUT_MS: Final = 30_000  # request.timeout.ms


class LocalMarkers:
    """Markers for partitions of this broker."""

    def __init__(self, replicas: Replicas, groups: Groups, now_ms: Callable[[], int]) -> None:
        self._replicas = replicas
        self._groups = groups
        self._now_ms = now_ms

    async def write(
        self, end: TransactionEnd, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        codes = await asyncio.gather(*(self._write_one(end, each) for each in partitions))
        return dict(zip(partitions, codes, strict=True))

    async def _write_one(self, end: TransactionEnd, partition: TopicPartition) -> ErrorCode:
        if partition.topic == OFFSETS_TOPIC:  # its coordinator has offsets that wait for the end
            return await self._groups.end_transaction(partition.partition, end)
        try:
            await self._append(end, partition)
        except TOLD_ERRORS as error:
            return error_code(error)
        return ErrorCode.NONE

    async def _append(self, end: TransactionEnd, partition: TopicPartition) -> None:
        now_ms = self._now_ms()
        kind = ControlType.COMMIT if end.is_committed else ControlType.ABORT
        batch = build_end_txn_batch(
            EndTxnMarker(kind, end.coordinator_epoch),
            timestamp_ms=now_ms,
            producer_id=end.producer_id,
            producer_epoch=end.producer_epoch,
        )
        replica = self._replicas.get(*partition)
        appended = replica.append_from_coordinator(
            bytearray(batch), now_ms=now_ms, transaction_version=end.transaction_version
        )
        replica.write()
        await wait_for_commit([(replica, appended)], _COMMIT_TIMEOUT_MS)


class MarkerRouting:
    """The port of coordinators/transactions/ports.py: to each partition's leader.

    A partition that is nowhere was deleted, but only an image that has all there was when this
    broker came up can say so: the metadata log is read from its start, and coordinators load
    meanwhile. A broker's epoch is the offset of its registration.

    Not here yet: leaders on other brokers, for which there are no peers. They count as unreachable.
    """

    def __init__(
        self,
        node_id: int,
        find_broker_epoch: Callable[[], int],
        find_image: Callable[[], MetadataImage],
        local: MarkerWriter,
    ) -> None:
        self._node_id = node_id
        self._find_broker_epoch = find_broker_epoch
        self._find_image = find_image
        self._local = local

    async def send(
        self, end: TransactionEnd, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        image = self._find_image()
        leaders = {each: _find_leader(image, each) for each in partitions}
        codes = dict.fromkeys(partitions, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if 0 <= self._find_broker_epoch() <= image.provenance.offset:
            gone = (each for each, leader in leaders.items() if leader is None)
            codes |= dict.fromkeys(gone, ErrorCode.NONE)
        here = [each for each, leader in leaders.items() if leader == self._node_id]
        return {**codes, **await self._local.write(end, here)}


def _find_leader(image: MetadataImage, partition: TopicPartition) -> int | None:
    """None where the image has no such partition."""
    topic = image.topics.find(partition.topic)
    found = None if topic is None else topic.partitions.get(partition.partition)
    return None if found is None else found.leader
