"""The five codecs of record batches: bytes in, bytes out, as Apache Kafka's Java code writes them.

Every decompression is bounded by `limit_bytes`: whatever a frame claims or expands to, no output
beyond the limit is allocated. The zstd decoder reserves the window that a frame declares (at most
128 MiB, libzstd's own ceiling), but touches only what it fills.

Not here: which codec a topic wants, and where the limit comes from.
"""

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import Final, TypeAlias

import cramjam

from snakka.protocol.errors import MalformedError

Buffer: TypeAlias = bytes | bytearray | memoryview

DEFAULT_LIMIT_BYTES: Final = 128 * 1024 * 1024

_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_SNAPPY_EXPANSION_MAX: Final = 32  # a three-byte copy yields at most 64 bytes

_LZ4_HEADER: Final = bytes.fromhex("04224d18 60 40 82")  # v1, independent 64 KiB blocks, checksum
_LZ4_BLOCK_BYTES: Final = 64 * 1024
_LZ4_STORED: Final = 0x80000000
_LZ4_HIGHEST_LEVEL: Final = 12

_FIRST_GUESS_BYTES: Final = 4096
_FIRST_GUESS_RATIO: Final = 8
_GUESS_GROWTH: Final = 4
_OUTPUT_IS_FULL: Final = "failed to write whole buffer"

_BLOCK_LENGTH = struct.Struct(">i")
_LZ4_LENGTH = struct.Struct("<I")


class Compression(IntEnum):
    """The codec id in the low three bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


# What Kafka's `compression.<codec>.level` mean when unset. For lz4, 9 is Kafka's name for the fast
# compressor; every other level is the slow, high-compression one.
DEFAULT_LEVELS: Final = {Compression.GZIP: -1, Compression.LZ4: 9, Compression.ZSTD: 3}


def compress(codec: Compression, data: Buffer, *, level: int | None = None) -> Buffer:
    """`data` in the codec's frame, at `level` or Kafka's default one."""
    if level is None:
        level = DEFAULT_LEVELS.get(codec, 0)
    match codec:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return zlib.compress(data, level, wbits=31)
        case Compression.SNAPPY:
            return _compress_xerial(data)
        case Compression.LZ4:
            return _compress_lz4(data, level)
        case Compression.ZSTD:
            return bytes(cramjam.zstd.compress(data, level))


def decompress(codec: Compression, data: Buffer, *, limit_bytes: int) -> Buffer:
    """The content of `data`; `MalformedError` when it is damaged or larger than `limit_bytes`."""
    match codec:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return _decompress(codec, cramjam.gzip.decompress_into, data, limit_bytes)
        case Compression.SNAPPY:
            return _decompress_snappy(data, limit_bytes)
        case Compression.LZ4:
            return _decompress(codec, cramjam.lz4.decompress_into, data, limit_bytes)
        case Compression.ZSTD:
            return _decompress(codec, cramjam.zstd.decompress_into, data, limit_bytes)


def _decompress(
    codec: Compression,
    decompress_into: Callable[[Buffer, bytearray], int],
    data: Buffer,
    limit_bytes: int,
) -> bytearray:
    """Into a buffer of a guessed size that grows up to the limit, and never past it."""
    size = min(_FIRST_GUESS_BYTES + _FIRST_GUESS_RATIO * len(data), limit_bytes)
    while True:
        output = bytearray(size)
        try:
            written = decompress_into(data, output)
        except cramjam.DecompressionError as error:
            if str(error) != _OUTPUT_IS_FULL:
                raise _malformed(codec, str(error)) from None
            if size == limit_bytes:
                raise _too_large(codec, limit_bytes) from None
            size = min(size * _GUESS_GROWTH, limit_bytes)
        else:
            del output[written:]
            return output


def _compress_xerial(data: Buffer) -> bytes:
    source = memoryview(data)
    parts = [_XERIAL_HEADER]
    for start in range(0, len(source), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(source[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: Buffer, limit_bytes: int) -> bytearray:
    source = memoryview(data)
    is_xerial = bytes(source[: len(_XERIAL_MAGIC)]) == _XERIAL_MAGIC
    blocks = _xerial_blocks(source) if is_xerial else [source]
    sizes = [_snappy_size(block) for block in blocks]
    if sum(sizes) > limit_bytes:
        raise _too_large(Compression.SNAPPY, limit_bytes)
    output = bytearray(sum(sizes))
    start = 0
    with memoryview(output) as target:
        for block, size in zip(blocks, sizes, strict=True):
            try:
                cramjam.snappy.decompress_raw_into(block, target[start : start + size])
            except cramjam.DecompressionError as error:
                raise _malformed(Compression.SNAPPY, str(error)) from None
            start += size
    return output


def _xerial_blocks(source: memoryview) -> list[memoryview]:
    blocks = []
    position = len(_XERIAL_HEADER)
    while position < len(source):
        if position + 4 > len(source):
            raise _malformed(Compression.SNAPPY, "truncated block length", position)
        (size,) = _BLOCK_LENGTH.unpack_from(source, position)
        position += 4
        if not 0 < size <= len(source) - position:
            raise _malformed(Compression.SNAPPY, f"block of {size} bytes", position)
        blocks.append(source[position : position + size])
        position += size
    return blocks


def _snappy_size(block: memoryview) -> int:
    try:
        size = cramjam.snappy.decompress_raw_len(block)
    except cramjam.DecompressionError as error:
        raise _malformed(Compression.SNAPPY, str(error)) from None
    if size > _SNAPPY_EXPANSION_MAX * len(block):
        raise _malformed(Compression.SNAPPY, f"{len(block)} bytes claim to hold {size}")
    return size


def _compress_lz4(data: Buffer, level: int) -> bytes:
    source = memoryview(data)
    is_fast = level == DEFAULT_LEVELS[Compression.LZ4]
    parts: list[bytes | memoryview] = [_LZ4_HEADER]
    for start in range(0, len(source), _LZ4_BLOCK_BYTES):
        plain = source[start : start + _LZ4_BLOCK_BYTES]
        block = bytes(
            cramjam.lz4.compress_block(
                plain,
                mode="default" if is_fast else "high_compression",
                compression=min(level, _LZ4_HIGHEST_LEVEL),
                store_size=False,
            )
        )
        if len(block) < len(plain):
            parts += (_LZ4_LENGTH.pack(len(block)), block)
        else:
            parts += (_LZ4_LENGTH.pack(len(plain) | _LZ4_STORED), plain)
    parts.append(_LZ4_LENGTH.pack(0))
    return b"".join(parts)


def _malformed(codec: Compression, reason: str, offset: int = 0) -> MalformedError:
    return MalformedError(f"{codec.name.lower()} data", offset, reason)


def _too_large(codec: Compression, limit_bytes: int) -> MalformedError:
    return _malformed(codec, f"more than {limit_bytes} bytes when decompressed")
