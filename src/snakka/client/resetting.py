"""Where to begin in partitions that have no position, or whose position is no more."""

from collections.abc import Collection, Mapping

from snakka.client.cluster import Cluster
from snakka.client.consumer_settings import OffsetReset
from snakka.client.errors import ClientError
from snakka.client.list_offsets import EARLIEST, LATEST, IsolationLevel, list_offsets
from snakka.client.records import TopicPartition


class NoPositionError(ClientError):
    """There is no position to read from, and `auto_offset_reset` does not name one."""


async def reset_positions(
    cluster: Cluster,
    partitions: Collection[TopicPartition],
    reset: OffsetReset,
    isolation: IsolationLevel,
) -> Mapping[TopicPartition, int]:
    """The ends that a consumer was told to begin at."""
    if reset is OffsetReset.NONE:
        raise NoPositionError(f"no position to read {', '.join(map(str, partitions))} from")
    end = EARLIEST if reset is OffsetReset.EARLIEST else LATEST
    found = await list_offsets(cluster, dict.fromkeys(partitions, end), isolation)
    return {partition: each.offset for partition, each in found.items()}
