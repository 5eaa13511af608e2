"""How fast clients may have partitions created and deleted: controller_mutation_rate (KIP-599).

A client that knows the error is refused what is beyond its quota; an older one gets what it asks
for. Either is told how long to wait before it asks again.

Not here: what is counted (the decisions call their `Charge`), setting quotas (client_quotas.py).
All state is soft: this leader's own.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from snakka.controller.decision import RefusedError
from snakka.metadata.image import MetadataImage
from snakka.metadata.keys import QuotaEntity
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_partitions import CreatePartitionsRequest
from snakka.protocol.messages.create_topics import CreateTopicsRequest
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest
from snakka.protocol.schema import Request
from snakka.quotas.client_quotas import find_quota
from snakka.quotas.token_bucket import TokenBucket

RATE_KEY: Final = "controller_mutation_rate"
BUCKETS_MAX: Final = 10_000

# What is charged, and from which version on its client knows THROTTLING_QUOTA_EXCEEDED.
STRICT_FROM: Final[Mapping[type[Request], int]] = MappingProxyType(
    {CreatePartitionsRequest: 3, CreateTopicsRequest: 6, DeleteTopicsRequest: 5}
)


class Mutations:
    """What one request changes; a `Charge`."""

    def __init__(self, bucket: TokenBucket | None, now_ms: int, *, is_strict: bool) -> None:
        self._bucket = bucket
        self._now_ms = now_ms
        self._is_strict = is_strict
        self.throttle_time_ms = 0

    def __call__(self, partitions: int) -> None:
        bucket, now_ms = self._bucket, self._now_ms
        if bucket is None:
            return
        if self._is_strict and (wait_ms := bucket.wait_ms(now_ms)):
            self.throttle_time_ms = wait_ms
            code = ErrorCode.THROTTLING_QUOTA_EXCEEDED
            raise RefusedError(code, code.message)
        bucket.take(partitions, now_ms)
        if not self._is_strict:
            self.throttle_time_ms = bucket.wait_ms(now_ms)


UNCHARGED: Final = Mutations(None, 0, is_strict=False)


class MutationQuotas:
    """The quotas of all who have asked for changes lately."""

    def __init__(self, burst_s: float) -> None:
        self._burst_s = burst_s
        self._buckets: dict[QuotaEntity, TokenBucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def admit(
        self, image: MetadataImage, user: str, client_id: str, now_ms: int, *, is_strict: bool
    ) -> Mutations:
        quota = find_quota(image.client_quotas, RATE_KEY, user, client_id)
        if quota is None:
            return UNCHARGED
        bucket = self._buckets.get(quota.sharers)
        if bucket is None:
            self._make_room(now_ms)
            bucket = TokenBucket(quota.rate, self._burst_s, now_ms)
            self._buckets[quota.sharers] = bucket
        bucket.rate = quota.rate
        return Mutations(bucket, now_ms, is_strict=is_strict)

    def _make_room(self, now_ms: int) -> None:
        """Client ids are made up at will: what is full may go, and else what is oldest."""
        if len(self._buckets) < BUCKETS_MAX:
            return
        for sharers in [key for key, each in self._buckets.items() if each.is_full(now_ms)]:
            del self._buckets[sharers]
        if len(self._buckets) >= BUCKETS_MAX:
            del self._buckets[next(iter(self._buckets))]
