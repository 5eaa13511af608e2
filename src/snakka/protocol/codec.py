"""Bytes to messages and back: one compiled decoder and encoder per message and version.

Both are compiled on first use, so a version that nobody speaks costs nothing. What fails to decode
raises MalformedError, what fails to encode UnencodableError; each names message, field and, in
bytes, the offset.

Not here: frames and headers (frames.py), what a message looks like (schema.py).
"""

import struct
from collections.abc import Callable, Sized
from functools import cache
from typing import NoReturn, TypeAlias, TypeVar

from snakka.protocol.decoder import DECODE_ERRORS, DecoderCompiler
from snakka.protocol.encoder import ENCODE_ERRORS, EncoderCompiler
from snakka.protocol.errors import MalformedError, UnencodableError, UnsupportedVersionError
from snakka.protocol.schema import Message
from snakka.protocol.source import Failure, Origins, Part
from snakka.protocol.types import Buffer
from snakka.protocol.wire import UnreadableError

M = TypeVar("M", bound=Message)
Chunk: TypeAlias = Buffer | Sized
Decode: TypeAlias = Callable[[Buffer, int], tuple[M, int]]
Encode: TypeAlias = Callable[[Message, bytearray, list[Chunk]], bytearray]


def decode(message: type[M], version: int, data: Buffer, position: int = 0) -> M:
    """The message that fills `data` from `position` on."""
    decoded: M
    decoded, end = decoder(message, version)(data, position)
    if end != len(data):
        raise MalformedError(message.__name__, end, f"{len(data) - end} bytes too many")
    return decoded


def encode(message: Message, version: int) -> bytearray:
    """The bytes of a message, all of whose records are in memory."""
    chunks: list[Chunk] = []
    out = encoder(type(message), version)(message, bytearray(), chunks)
    if chunks:
        raise UnencodableError(type(message).__name__, "holds records that are not in memory")
    return out


@cache
def decoder(message: type[M], version: int) -> Decode[M]:
    """Decodes what starts at a position of a buffer; also says where it ended."""
    _check_version(message, version)
    run, origins = DecoderCompiler(message, version, version in message.FLEXIBLE).compile()

    def decode_from(data: Buffer, position: int) -> tuple[M, int]:
        try:
            decoded: tuple[M, int] = run(data, position)
        except DECODE_ERRORS as error:
            _raise_malformed(error, origins, len(data))
        return decoded

    return decode_from


@cache
def encoder(message: type[Message], version: int) -> Encode:
    """Appends a message to a buffer, and returns the buffer that holds its end.

    Records that are not bytes cut it: `chunks` gets the buffer so far and then the records, and
    what follows goes to a new buffer.
    """
    _check_version(message, version)
    run, origins = EncoderCompiler(message, version, version in message.FLEXIBLE).compile()

    def encode_onto(value: Message, out: bytearray, chunks: list[Chunk]) -> bytearray:
        try:
            encoded: bytearray = run(value, out, chunks)
        except ENCODE_ERRORS as error:
            _raise_unencodable(error, origins)
        return encoded

    return encode_onto


def _check_version(message: type[Message], version: int) -> None:
    if version not in message.VERSIONS:
        first, last = message.VERSIONS
        raise UnsupportedVersionError(
            f"{message.__name__} has versions {first} to {last}, not {version}"
        )


def _raise_malformed(cause: Exception, origins: Origins, size: int) -> NoReturn:
    failure = origins.find(cause.__traceback__)
    offset = failure.variables["p"]
    if isinstance(cause, UnreadableError | UnicodeDecodeError):
        raise MalformedError(failure.place, offset, str(cause)) from None
    place = failure.place
    for part in failure.parts:
        place = part.place
        if offset + struct.calcsize(">" + part.letter) > size:
            break
        offset += struct.calcsize(">" + part.letter)
    raise MalformedError(place, min(offset, size), "truncated") from None


def _raise_unencodable(cause: Exception, origins: Origins) -> NoReturn:
    failure = origins.find(cause.__traceback__)
    place = next((part.place for part in failure.parts if not _packs(part, failure)), failure.place)
    reason = str(cause)
    if isinstance(cause, AttributeError | TypeError):
        reason = f"a value of the wrong type: {cause}"
    raise UnencodableError(place, reason) from cause


def _packs(part: Part, failure: Failure) -> bool:
    """Whether this one of several values was not what failed."""
    try:
        struct.pack(">" + part.letter, eval(part.expression, {}, failure.variables))
    except (struct.error, TypeError):
        return False
    return True
