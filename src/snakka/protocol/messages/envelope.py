"""Envelope (key 58): a request forwarded in the name of its sender.

KIP-590.
"""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16


class EnvelopeRequest(Request, key=58, versions="0", flexible="0+", listeners=Listeners.CONTROLLER):
    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes


class EnvelopeResponse(Response, key=58, versions="0", flexible="0+"):
    response_data: bytes | None = None
    error_code: Int16
