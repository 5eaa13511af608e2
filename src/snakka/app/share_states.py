"""The share coordinator of a broker, as its configuration has it."""

from collections.abc import Callable

from snakka.apis.cluster import SHARE_STATE_TOPIC
from snakka.app.internal_topics import partition_count
from snakka.config.broker import BrokerConfig
from snakka.coordinators.hosted import HostSettings
from snakka.coordinators.share_state.machine import ShareStateSettings
from snakka.coordinators.share_state.share_states import ShareStates
from snakka.coordinators.timers import LoopTimers
from snakka.metadata.image import MetadataImage
from snakka.protocol.types import Uuid

_PREFIX = "share.coordinator"


def make_share_states(
    config: BrokerConfig, find_image: Callable[[], MetadataImage], timers: LoopTimers
) -> ShareStates:
    def has_partition(topic_id: Uuid, index: int) -> bool:
        return find_image().topics.find_partition(topic_id, index) is not None

    count = f"{_PREFIX}.state.topic.num.partitions"
    return ShareStates(
        ShareStateSettings(
            config.get_int(f"{_PREFIX}.snapshot.update.records.per.snapshot"),
            config.get_int(f"{_PREFIX}.cold.partition.snapshot.interval.ms"),
        ),
        HostSettings(
            commit_timeout_ms=config.get_int(f"{_PREFIX}.write.timeout.ms"),
            load_bytes_max=config.get_int(f"{_PREFIX}.load.buffer.size"),
        ),
        partition_count(config, find_image, SHARE_STATE_TOPIC, count),
        timers,
        has_partition,
    )
