"""UnregisterBroker (key 64): take a broker out of the cluster."""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16, Int32


class UnregisterBrokerRequest(
    Request, key=64, versions="0", flexible="0+", listeners=Listeners.BOTH
):
    broker_id: Int32


class UnregisterBrokerResponse(Response, key=64, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
