"""DeleteTopics: topics by name or by id go, with their configuration.

KIP-516 topic ids, KIP-599 mutation quota.

Not here: who may delete what, and what they may learn (apis/), delete.topic.enable (apis/).
"""

from collections import Counter
from collections.abc import Iterator

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.limits import Charge, no_quota
from snakka.controller.view import View
from snakka.metadata.image import Topic
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import RemoveTopicRecord
from snakka.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from snakka.protocol.types import ZERO_UUID, Uuid


def delete_topics(
    view: View, request: DeleteTopicsRequest, charge: Charge = no_quota
) -> Decision[DeleteTopicsResponse]:
    records: list[MetadataRecord] = []
    states = [*request.topics, *(DeleteTopicState(name=each, topic_id=ZERO_UUID)
                                 for each in request.topic_names)]  # fmt: skip
    times = Counter((state.name, state.topic_id) for state in states)
    given_ids = {state.topic_id for state in states if state.name is None}
    results = []
    for state in _each_once(states):
        try:
            _check(state, times[state.name, state.topic_id])
            topic = _find(view, state, given_ids)
            charge(len(topic.partitions))
        except RefusedError as refused:
            results.append(_result(state.name, state.topic_id, refused.code, refused.message))
        else:
            records.append(RemoveTopicRecord(topic_id=topic.topic_id))
            results.append(_result(topic.name, topic.topic_id, ErrorCode.NONE, None))
    return Decision(DeleteTopicsResponse(throttle_time_ms=0, responses=results), records)


def _each_once(states: list[DeleteTopicState]) -> Iterator[DeleteTopicState]:
    return iter({(state.name, state.topic_id): state for state in states}.values())


def _check(state: DeleteTopicState, times: int) -> None:
    code = ErrorCode.INVALID_REQUEST
    if state.name is None and state.topic_id == ZERO_UUID:
        raise RefusedError(code, "Neither topic name nor id were specified.")
    if state.name is not None and state.topic_id != ZERO_UUID:
        raise RefusedError(code, "You may not specify both topic name and topic id.")
    if times > 1:
        what = "id" if state.name is None else "name"
        raise RefusedError(code, f"Duplicate topic {what}.")


def _find(view: View, state: DeleteTopicState, given_ids: set[Uuid]) -> Topic:
    topics = view.image.topics
    if state.name is None:
        found = topics.by_id.get(state.topic_id)
        if found is None:
            raise RefusedError(ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID.message)
        return found
    found = topics.find(state.name)
    if found is None:
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        raise RefusedError(unknown, unknown.message)
    if found.topic_id in given_ids:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            "The provided topic name maps to an ID that was already supplied.",
        )
    return found


def _result(
    name: str | None, topic_id: Uuid, code: ErrorCode, message: str | None
) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=code, error_message=message
    )
