"""DescribeTransactions and ListTransactions, for operators. KIP-664, KIP-994, KIP-1152."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.expressions import InvalidExpressionError, Pattern, compile_expression
from snakka.coordinators.transactions.metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    State,
    TransactionMetadata,
    by_topic,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_transactions import TopicData
from snakka.protocol.messages.describe_transactions import TransactionState as Described
from snakka.protocol.messages.list_transactions import ListTransactionsRequest
from snakka.protocol.messages.list_transactions import TransactionState as Listed

TITLES: Final = {each.title: each for each in State}


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list is to be limited to."""

    states: frozenset[State]
    is_limited_by_state: bool
    producer_ids: frozenset[int]
    duration_ms_min: int
    pattern: Pattern | None

    @classmethod
    def of(cls, request: ListTransactionsRequest) -> "Filter":
        known = {TITLES[each] for each in request.state_filters if each in TITLES}
        return cls(
            frozenset(known),
            bool(request.state_filters),
            frozenset(request.producer_id_filters),
            request.duration_filter,
            _compile(request.transactional_id_pattern),
        )

    def takes(self, metadata: TransactionMetadata, now_ms: int) -> bool:
        if self.is_limited_by_state and metadata.state not in self.states:
            return False
        if self.producer_ids and metadata.producer_id not in self.producer_ids:
            return False
        if self.duration_ms_min >= 0 and now_ms - metadata.started_at_ms <= self.duration_ms_min:
            return False
        return self.pattern is None or self.pattern.fullmatch(metadata.transactional_id) is not None


def unknown_states(request: ListTransactionsRequest) -> list[str]:
    return [each for each in request.state_filters if each not in TITLES]


def list_transactions(
    transactions: Iterable[TransactionMetadata], wanted: Filter, now_ms: int
) -> list[Listed]:
    return [
        Listed(
            transactional_id=each.transactional_id,
            producer_id=each.producer_id,
            transaction_state=each.state.title,
        )
        for each in transactions
        if wanted.takes(each, now_ms)
    ]


def describe(metadata: TransactionMetadata) -> Described:
    return Described(
        error_code=ErrorCode.NONE,
        transactional_id=metadata.transactional_id,
        transaction_state=metadata.state.title,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_start_time_ms=metadata.started_at_ms,
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        topics=[
            TopicData(topic=topic, partitions=indexes)
            for topic, indexes in by_topic(metadata.partitions).items()
        ],
    )


def refuse_describe(transactional_id: str, code: ErrorCode) -> Described:
    return Described(
        error_code=code,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        topics=[],
    )


def _compile(pattern: str | None) -> Pattern | None:
    if not pattern:
        return None
    try:
        return compile_expression(pattern)
    except InvalidExpressionError:
        raise CoordinatorError(ErrorCode.INVALID_REGULAR_EXPRESSION) from None
