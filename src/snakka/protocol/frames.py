"""Requests and responses in their frames: four bytes of size, a header, the message.

A frame's size is checked before anything is read of it. Which header precedes a message follows
from the message's own version, but for ApiVersions: its response always has the first header,
since a client that asks for versions cannot know yet which header to expect (KIP-511).
"""

import struct
from typing import Final, NamedTuple, TypeVar

from snakka.protocol.api_keys import ApiKey, find_api, request_type
from snakka.protocol.codec import Chunk, decode, decoder, encode, encoder
from snakka.protocol.errors import MalformedError, UnsupportedVersionError
from snakka.protocol.messages.header import RequestHeader, ResponseHeader
from snakka.protocol.schema import Message, Request, Response
from snakka.protocol.types import Buffer

SIZE_BYTES: Final = 4
_HEADER_BYTES_MAX: Final = 64 * 1024  # decoding copies what it is given, and a frame may be large

_R = TypeVar("_R", bound=Response)

_SIZE = struct.Struct(">i")
_API = struct.Struct(">hh")


class EncodedResponse(NamedTuple):
    """A response without its header, as bytes of one version."""

    header_version: int
    body: bytearray


def find_frame_size(buffer: Buffer, position: int, limit_bytes: int) -> int | None:
    """The size that a frame announces at `position`, once those four bytes are there."""
    if len(buffer) - position < SIZE_BYTES:
        return None
    size: int = _SIZE.unpack_from(buffer, position)[0]
    if not 0 <= size <= limit_bytes:
        raise MalformedError("frame", position, f"size {size} is not within 0 to {limit_bytes}")
    return size


def request_header_version(request: type[Request], version: int) -> int:
    return 2 if version in request.FLEXIBLE else 1


def response_header_version(response: type[Response], version: int) -> int:
    return 1 if version in response.FLEXIBLE and response.KEY != ApiKey.API_VERSIONS else 0


def read_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """The header of a request, in whatever version, and where the request itself starts."""
    if len(frame) < _API.size:
        raise MalformedError("RequestHeader", len(frame), "truncated")
    key, version = _API.unpack_from(frame)
    api = find_api(key)
    if api is None:
        raise UnsupportedVersionError(f"there is no API with key {key}")
    header_version = request_header_version(request_type(api), version)
    return decoder(RequestHeader, header_version)(frame[:_HEADER_BYTES_MAX], 0)


def read_request(frame: Buffer) -> tuple[RequestHeader, Request]:
    """A whole request, without the size before it."""
    header, position = read_request_header(frame)
    message = request_type(ApiKey(header.request_api_key))
    return header, decode(message, header.request_api_version, frame, position)


def read_response(response: type[_R], version: int, frame: Buffer) -> tuple[int, _R]:
    """A whole response, without the size before it, and the request that it answers."""
    header_version = response_header_version(response, version)
    header, position = decoder(ResponseHeader, header_version)(frame[:_HEADER_BYTES_MAX], 0)
    return header.correlation_id, decode(response, version, frame, position)


def write_request(
    request: Request, version: int, *, correlation_id: int, client_id: str | None
) -> list[Chunk]:
    """A frame with a request, in the chunks that are to be sent in a row."""
    header = RequestHeader(
        request_api_key=request.KEY,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    return _frame(header, request_header_version(type(request), version), request, version)


def encode_response(response: Response, version: int) -> EncodedResponse:
    """One that may be written to many who ask; all its records are in memory."""
    header_version = response_header_version(type(response), version)
    return EncodedResponse(header_version, encode(response, version))


def write_response(
    response: Response | EncodedResponse, version: int, *, correlation_id: int
) -> list[Chunk]:
    """A frame with a response, in the chunks that are to be sent in a row."""
    header = ResponseHeader(correlation_id=correlation_id)
    if isinstance(response, EncodedResponse):
        first = encoder(ResponseHeader, response.header_version)(header, bytearray(SIZE_BYTES), [])
        _SIZE.pack_into(first, 0, len(first) + len(response.body) - SIZE_BYTES)
        return [first, response.body]
    return _frame(header, response_header_version(type(response), version), response, version)


def _frame(header: Message, header_version: int, message: Message, version: int) -> list[Chunk]:
    chunks: list[Chunk] = []
    first = bytearray(SIZE_BYTES)
    out = encoder(type(header), header_version)(header, first, chunks)
    chunks.append(encoder(type(message), version)(message, out, chunks))
    _SIZE.pack_into(first, 0, sum(map(len, chunks)) - SIZE_BYTES)
    return chunks
