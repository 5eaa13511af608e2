import pytest

from snakka.metadata.keys import quota_entity
from snakka.quotas.client_quotas import ClientQuota, find_quota

KEY = "controller_mutation_rate"

# From the nearest on: what is set, and who shares it.
LEVELS: tuple[tuple[dict[str, str | None], dict[str, str]], ...] = (
    ({"user": "alice", "client-id": "app"}, {"user": "alice", "client-id": "app"}),
    ({"user": "alice", "client-id": None}, {"user": "alice", "client-id": "app"}),
    ({"user": "alice"}, {"user": "alice"}),
    ({"user": None, "client-id": "app"}, {"user": "alice", "client-id": "app"}),
    ({"user": None, "client-id": None}, {"user": "alice", "client-id": "app"}),
    ({"user": None}, {"user": "alice"}),
    ({"client-id": "app"}, {"client-id": "app"}),
    ({"client-id": None}, {"client-id": "app"}),
)


@pytest.mark.parametrize("nearest", range(len(LEVELS)))
def test_the_nearest_quota_counts(nearest: int) -> None:
    quotas = {
        quota_entity(names.items()): {KEY: float(level)}
        for level, (names, _) in enumerate(LEVELS)
        if level >= nearest
    }
    sharers = quota_entity(LEVELS[nearest][1].items())
    assert find_quota(quotas, KEY, "alice", "app") == ClientQuota(sharers, float(nearest))


def test_quotas_of_others_and_of_other_things_do_not_count() -> None:
    quotas = {
        quota_entity([("user", "bob")]): {KEY: 1.0},
        quota_entity([("user", "alice")]): {"producer_byte_rate": 1.0},
    }
    assert find_quota(quotas, KEY, "alice", "app") is None
