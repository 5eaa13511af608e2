"""All keys of Kafka 4.3, by the resource they belong to."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from snakka.config.key import Key
from snakka.config.keys import (
    group,
    groups,
    log,
    metrics,
    network,
    node,
    oauth,
    quorum,
    quotas,
    replication,
    security,
    share,
    tiered,
    tls,
    topic,
    transactions,
)


def _by_name(keys: Iterable[Key]) -> Mapping[str, Key]:
    by_name: dict[str, Key] = {}
    for key in keys:
        assert key.name not in by_name, f"{key.name} is declared twice"
        by_name[key.name] = key
    return MappingProxyType(by_name)


# What a broker's file may set, by concern, in the order of the reference page.
BROKER_KEYS_BY_CONCERN: Mapping[str, tuple[Key, ...]] = MappingProxyType(
    {
        "Node": node.KEYS,
        "Network": network.KEYS,
        "Logs": log.KEYS,
        "Replication": replication.KEYS,
        "Quorum and metadata": quorum.KEYS,
        "Groups": groups.KEYS,
        "Share groups": share.KEYS,
        "Transactions": transactions.KEYS,
        "Tiered storage": tiered.KEYS,
        "TLS": tls.KEYS,
        "Authentication and authorisation": security.KEYS,
        "OAuth": oauth.KEYS,
        "Quotas": quotas.KEYS,
        "Metrics": metrics.KEYS,
    }
)

BROKER_KEYS = _by_name(key for keys in BROKER_KEYS_BY_CONCERN.values() for key in keys)
BROKER_QUOTA_KEYS = _by_name(quotas.BROKER_QUOTAS)
TOPIC_KEYS = _by_name(topic.KEYS)
GROUP_KEYS = _by_name(group.KEYS)
CLIENT_METRICS_KEYS = _by_name(metrics.SUBSCRIPTION)
CLIENT_QUOTA_KEYS = _by_name(quotas.CLIENT_QUOTAS)
ADDRESS_QUOTA_KEYS = _by_name(quotas.ADDRESS_QUOTAS)
