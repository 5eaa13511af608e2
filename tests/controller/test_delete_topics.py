from collections.abc import Sequence

import pytest

from snakka.controller.delete_topics import delete_topics
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from snakka.protocol.types import ZERO_UUID, Uuid
from tests.controller.making import Cluster, topic, topic_id
from tests.controller.test_create_topics import create, new
from tests.metadata.making import register


def delete(cluster: Cluster, *states: tuple[str | None, Uuid]) -> list[DeletableTopicResult]:
    asked = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name, topic_id=id_) for name, id_ in states],
        topic_names=[],
        timeout_ms=1,
    )
    response = cluster.decide(delete_topics(cluster.view, asked))
    cluster.check()
    return response.responses


class TestDeleteTopics:
    @pytest.mark.parametrize("state", [("orders", ZERO_UUID), (None, topic_id(1))])
    def test_by_name_and_by_id(self, state: tuple[str | None, Uuid]) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        (result,) = delete(cluster, state)
        assert (result.name, result.topic_id, result.error_code) == ("orders", topic_id(1), 0)
        assert not cluster.view.image.topics.by_id

    def test_frees_the_name_for_one_that_collided(self) -> None:
        cluster = Cluster(register(1), *topic("a.b", 1, (1,)))
        delete(cluster, ("a.b", ZERO_UUID))
        assert create(cluster, new("a_b"))[0].error_code == ErrorCode.NONE

    @pytest.mark.parametrize(
        ("states", "code", "message"),
        [
            ([("gone", ZERO_UUID)], 3, "This server does not host this topic-partition."),
            ([(None, topic_id(9))], 100, "This server does not host this topic ID."),
            ([(None, ZERO_UUID)], 42, "Neither topic name nor id were specified."),
            ([("orders", topic_id(1))], 42, "You may not specify both topic name and topic id."),
            ([("orders", ZERO_UUID)] * 2, 42, "Duplicate topic name."),
            ([(None, topic_id(1))] * 2, 42, "Duplicate topic id."),
        ],
    )
    def test_refuses(
        self, states: Sequence[tuple[str | None, Uuid]], code: int, message: str
    ) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        (result,) = delete(cluster, *states)
        assert (result.error_code, result.error_message) == (code, message)
        assert len(cluster.view.image.topics) == 1

    def test_refuses_a_name_whose_id_is_given_as_well(self) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        by_id, by_name = delete(cluster, (None, topic_id(1)), ("orders", ZERO_UUID))
        assert (by_id.error_code, by_name.error_code) == (0, 42)
