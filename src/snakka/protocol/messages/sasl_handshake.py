"""SaslHandshake (key 17): choose a SASL mechanism."""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16


class SaslHandshakeRequest(
    Request, key=17, versions="0-1", flexible="none", listeners=Listeners.BOTH
):
    mechanism: str


class SaslHandshakeResponse(Response, key=17, versions="0-1", flexible="none"):
    error_code: Int16
    mechanisms: list[str]
