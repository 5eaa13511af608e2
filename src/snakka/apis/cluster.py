"""What several APIs say of brokers and topics: where a client reaches whom, and what is internal.

A client is told of the listener that it came in on: the endpoints of the same name.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from snakka.metadata.image import MetadataImage

OFFSETS_TOPIC: Final = "__consumer_offsets"
TRANSACTIONS_TOPIC: Final = "__transaction_state"
SHARE_STATE_TOPIC: Final = "__share_group_state"
_NOBODY: Final = -1
INTERNAL_TOPICS: Final = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC, SHARE_STATE_TOPIC})


class Reachable(NamedTuple):
    """A broker, as a client of one listener reaches it."""

    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool


def reachable_brokers(
    image: MetadataImage, listener: str, *, with_fenced: bool = False
) -> Iterator[Reachable]:
    for broker_id in sorted(image.brokers):
        found = find_broker(image, broker_id, listener)
        if found is not None and (with_fenced or not found.is_fenced):
            yield found


def find_broker(image: MetadataImage, broker_id: int, listener: str) -> Reachable | None:
    broker = image.brokers.get(broker_id)
    if broker is None:
        return None
    for endpoint in broker.endpoints:
        if endpoint.name == listener:
            return Reachable(broker_id, endpoint.host, endpoint.port, broker.rack, broker.fenced)
    return None


def find_forwarder(image: MetadataImage, own_id: int) -> int:
    """Whom clients are told to be the controller: brokers forward what is for it (KIP-590).

    It is the broker that answers, if it may serve. That one lives, which of others is not known.
    """
    candidates = (own_id, *sorted(image.brokers))
    return next((each for each in candidates if image.is_active(each)), _NOBODY)
