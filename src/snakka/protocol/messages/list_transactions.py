"""ListTransactions (key 66): the transactions a coordinator knows.

KIP-664, KIP-994 filter by duration (v1), KIP-1152 filter by pattern (v2).
"""

from snakka.protocol.schema import Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Int64


class ListTransactionsRequest(Request, key=66, versions="0-2", flexible="0+"):
    state_filters: list[str]
    producer_id_filters: list[Int64]
    duration_filter: Int64 = field("1+", default=-1)
    transactional_id_pattern: str | None = field("2+", default=None)


class TransactionState(Struct):
    transactional_id: str
    producer_id: Int64
    transaction_state: str


class ListTransactionsResponse(Response, key=66, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]
