"""The transaction coordinator of a broker, as its configuration has it."""

from collections.abc import Callable

from snakka.apis.cluster import TRANSACTIONS_TOPIC
from snakka.app.internal_topics import partition_count
from snakka.config.broker import BrokerConfig
from snakka.coordinators.hosted import HostSettings
from snakka.coordinators.timers import LoopTimers
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.coordinators.transactions.transactions import Transactions
from snakka.metadata.image import MetadataImage
from snakka.metadata.versions import TRANSACTION_VERSION
from snakka.node.markers import LocalMarkers, MarkerRouting
from snakka.node.producer_ids import ProducerIdBlocks


def make_transactions(
    config: BrokerConfig,
    find_image: Callable[[], MetadataImage],
    timers: LoopTimers,
    producer_ids: ProducerIdBlocks,
    find_broker_epoch: Callable[[], int],
    markers: LocalMarkers,
) -> Transactions:
    return Transactions(
        _settings(config),
        HostSettings(load_bytes_max=config.get_int("transaction.state.log.load.buffer.size")),
        partition_count(
            config, find_image, TRANSACTIONS_TOPIC, "transaction.state.log.num.partitions"
        ),
        lambda: find_image().features.get(TRANSACTION_VERSION, 0),
        timers,
        producer_ids,
        MarkerRouting(config.node_id, find_broker_epoch, find_image, markers),
    )


def _settings(config: BrokerConfig) -> TransactionSettings:
    return TransactionSettings(
        max_timeout_ms=config.get_int("transaction.max.timeout.ms"),
        id_expiration_ms=config.get_int("transactional.id.expiration.ms"),
        expiration_check_interval_ms=config.get_int(
            "transaction.remove.expired.transaction.cleanup.interval.ms"
        ),
        abort_retry_interval_ms=config.get_int(
            "transaction.abort.timed.out.transaction.cleanup.interval.ms"
        ),
    )
