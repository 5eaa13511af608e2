"""Which of the quotas that are set a client falls under (KIP-55). Pure.

The nearest one counts, and whoever falls under it alike shares it: all connections of a user, or of
a client id, or of both together.
"""

from collections.abc import Mapping
from typing import NamedTuple

from snakka.metadata.keys import CLIENT_ID, USER, QuotaEntity, quota_entity


class ClientQuota(NamedTuple):
    """How much a second, and for whom together."""

    sharers: QuotaEntity
    rate: float


def find_quota(
    quotas: Mapping[QuotaEntity, Mapping[str, float]], key: str, user: str, client_id: str
) -> ClientQuota | None:
    own = {USER: user, CLIENT_ID: client_id}
    for names in (
        {USER: user, CLIENT_ID: client_id},
        {USER: user, CLIENT_ID: None},
        {USER: user},
        {USER: None, CLIENT_ID: client_id},
        {USER: None, CLIENT_ID: None},
        {USER: None},
        {CLIENT_ID: client_id},
        {CLIENT_ID: None},
    ):
        rate = quotas.get(quota_entity(names.items()), {}).get(key)
        if rate is not None:
            return ClientQuota(quota_entity((kind, own[kind]) for kind in names), rate)
    return None
