"""controller_mutation_rate (KIP-599): who may change how much, and what is said beyond that."""

from collections.abc import Callable

import pytest

from snakka.controller.create_partitions import create_partitions
from snakka.controller.create_topics import create_topics
from snakka.controller.delete_topics import delete_topics
from snakka.controller.mutation_quota import BUCKETS_MAX, MutationQuotas, Mutations
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from snakka.protocol.messages.create_topics import CreateTopicsRequest
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest
from tests.controller.making import NOW_MS, Cluster, brokers, topic
from tests.controller.test_client_quotas import alter
from tests.controller.test_create_topics import new

CLIENT = (("client-id", "app"),)
EXCEEDED = (ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded.")
BURST_S = 10.0


def limited(rate: float = 1.0) -> tuple[Cluster, MutationQuotas]:
    cluster = Cluster(*brokers(1), *topic("old", 1, (1,), (1,), (1,)))
    alter(cluster, CLIENT, ("controller_mutation_rate", rate))
    return cluster, MutationQuotas(BURST_S)


def admit(
    cluster: Cluster, quotas: MutationQuotas, now_ms: int = NOW_MS, *, is_strict: bool = True
) -> Mutations:
    return quotas.admit(cluster.view.image, "ANONYMOUS", "app", now_ms, is_strict=is_strict)


def create(cluster: Cluster, charge: Mutations, *partitions: int) -> list[tuple[int, str | None]]:
    topics = [new(f"t{index}", count) for index, count in enumerate(partitions)]
    asked = CreateTopicsRequest(topics=topics, validate_only=False)
    answer = cluster.decide(create_topics(cluster.view, asked, cluster.random, charge))
    return [(each.error_code, each.error_message) for each in answer.topics]


def test_one_request_may_go_beyond_the_quota_and_what_follows_waits() -> None:
    cluster, quotas = limited()
    charge = admit(cluster, quotas)
    assert create(cluster, charge, 5, 9, 1) == [(0, None), (0, None), EXCEEDED]
    assert charge.throttle_time_ms == 4_000
    assert set(cluster.view.image.topics.ids) == {"old", "t0", "t1"}
    early, late = (admit(cluster, quotas, NOW_MS + each) for each in (3_999, 4_000))
    assert delete(cluster, early) == EXCEEDED
    assert delete(cluster, late) == (0, None)


def delete(cluster: Cluster, charge: Mutations) -> tuple[int, str | None]:
    asked = DeleteTopicsRequest(topic_names=["old"], topics=[], timeout_ms=1)
    (result,) = cluster.decide(delete_topics(cluster.view, asked, charge)).responses
    return result.error_code, result.error_message


def grow(cluster: Cluster, charge: Mutations) -> tuple[int, str | None]:
    grown = CreatePartitionsTopic(name="old", count=8, assignments=None)
    asked = CreatePartitionsRequest(topics=[grown], timeout_ms=1, validate_only=False)
    answer = cluster.decide(create_partitions(cluster.view, asked, cluster.random, charge))
    return answer.results[0].error_code, answer.results[0].error_message


@pytest.mark.parametrize(("change", "partitions"), [(delete, 3), (grow, 5)])
def test_what_is_counted_is_partitions(
    change: Callable[[Cluster, Mutations], tuple[int, str | None]], partitions: int
) -> None:
    cluster, quotas = limited()
    assert create(cluster, admit(cluster, quotas), 10) == [(0, None)]
    assert change(cluster, admit(cluster, quotas)) == (0, None)
    late = admit(cluster, quotas)
    assert create(cluster, late, 1, 1)[1:] == [EXCEEDED]
    assert late.throttle_time_ms == partitions * 1000


def test_what_is_refused_for_another_reason_is_not_counted() -> None:
    cluster, quotas = limited()
    asked = CreateTopicsRequest(topics=[new("bad name", 100)], validate_only=False)
    create_topics(cluster.view, asked, cluster.random, admit(cluster, quotas))
    assert create(cluster, admit(cluster, quotas), 10) == [(0, None)]


def test_an_older_client_gets_what_it_asks_for_and_is_told_to_wait() -> None:
    cluster, quotas = limited()
    charge = admit(cluster, quotas, is_strict=False)
    assert create(cluster, charge, 9, 9) == [(0, None), (0, None)]
    assert charge.throttle_time_ms == 8_000


def test_without_a_quota_nobody_waits() -> None:
    cluster, quotas = limited()
    alter(cluster, CLIENT, ("controller_mutation_rate", None))
    charge = admit(cluster, quotas)
    assert create(cluster, charge, 4_000, 4_000) == [(0, None), (0, None)]
    assert charge.throttle_time_ms == 0


def test_a_quota_that_changes_holds_at_once() -> None:
    cluster, quotas = limited()
    create(cluster, admit(cluster, quotas), 20)
    alter(cluster, CLIENT, ("controller_mutation_rate", 100.0))
    charge = admit(cluster, quotas)
    assert create(cluster, charge, 1) == [
        (ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 't0' already exists.")
    ]
    assert delete(cluster, charge) == EXCEEDED
    assert charge.throttle_time_ms == 100


def test_made_up_client_ids_do_not_fill_the_memory() -> None:
    cluster, quotas = limited()
    alter(cluster, (("client-id", None),), ("controller_mutation_rate", 1.0))
    image = cluster.view.image
    create(cluster, admit(cluster, quotas), 20)
    for index in range(2 * BUCKETS_MAX):
        quotas.admit(image, "ANONYMOUS", f"made up {index}", NOW_MS, is_strict=True)
    assert len(quotas) <= BUCKETS_MAX
    assert delete(cluster, admit(cluster, quotas)) == EXCEEDED  # who has a debt is remembered
