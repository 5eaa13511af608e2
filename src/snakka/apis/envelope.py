"""Envelope (key 58): a broker passes on a request of a client of its own.

KIP-590. The request inside is served as if it had come itself; a controller that is not the active
one says so in the envelope, where the broker sees it.
"""

import ipaddress
from typing import cast

from snakka.apis.context import Context, NodeContext, Peer
from snakka.apis.forwarding import FORWARDED
from snakka.apis.registry import CONTROLLER_APIS, Api, controller_api
from snakka.controller.decision import RefusedError
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError, UnsupportedVersionError
from snakka.protocol.frames import SIZE_BYTES, read_request, write_response
from snakka.protocol.internal.frames import read_versioned
from snakka.protocol.internal.principal import DefaultPrincipalData
from snakka.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from snakka.protocol.messages.header import RequestHeader
from snakka.protocol.refusals import refusal
from snakka.protocol.schema import Request
from snakka.protocol.types import Buffer


@controller_api(ApiKey.ENVELOPE)
async def envelope(request: EnvelopeRequest, context: NodeContext) -> EnvelopeResponse:
    try:
        peer = _sender(request, context)
        api, header, wrapped = _open(request)
    except RefusedError as refused:
        return EnvelopeResponse(error_code=refused.code)
    version = header.request_api_version
    try:
        response = await api.handler(wrapped, Context(header, peer, context.services))
    except RefusedError as refused:
        if refused.code is ErrorCode.NOT_CONTROLLER:
            return EnvelopeResponse(error_code=refused.code)
        response = refusal(wrapped, version, refused.code)
    assert response is not None
    chunks = write_response(response, version, correlation_id=header.correlation_id)
    data = b"".join(cast(list[Buffer], chunks))[SIZE_BYTES:]
    return EnvelopeResponse(response_data=data, error_code=ErrorCode.NONE)


def _sender(request: EnvelopeRequest, context: NodeContext) -> Peer:
    """Who asked the broker."""
    try:
        host = str(ipaddress.ip_address(request.client_host_address))
    except ValueError:
        raise RefusedError(ErrorCode.INVALID_REQUEST) from None
    if request.request_principal is not None:
        try:
            read_versioned(DefaultPrincipalData, request.request_principal)
        except (MalformedError, UnsupportedVersionError):
            raise RefusedError(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE) from None
    return Peer(context.peer.listener, host, context.peer.port)


def _open(request: EnvelopeRequest) -> tuple[Api, RequestHeader, Request]:
    try:
        header, wrapped = read_request(request.request_data)
    except UnsupportedVersionError:
        raise RefusedError(ErrorCode.UNSUPPORTED_VERSION) from None
    except MalformedError:
        raise RefusedError(ErrorCode.INVALID_REQUEST) from None
    api = CONTROLLER_APIS.get(header.request_api_key)
    if api is None or api.key not in FORWARDED:
        raise RefusedError(ErrorCode.INVALID_REQUEST)
    if header.request_api_version not in api.versions:
        raise RefusedError(ErrorCode.UNSUPPORTED_VERSION)
    return api, header, wrapped
