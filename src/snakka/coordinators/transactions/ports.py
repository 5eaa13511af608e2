"""What the transaction coordinator needs of the world besides its log and time."""

from collections.abc import Collection, Mapping
from typing import Protocol

from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import TransactionEnd
from snakka.protocol.error_codes import ErrorCode


class MarkerSender(Protocol):
    """Brings markers to the leaders of partitions, wherever they are."""

    async def send(
        self, end: TransactionEnd, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        """What came of each partition's marker, NONE only once it is committed.

        NONE too for a partition that was deleted: nothing is left there to be ended.
        """


class ProducerIds(Protocol):
    """Producer ids that nobody else was given."""

    async def next(self) -> int:
        """CoordinatorError where there is none to be had by now."""
