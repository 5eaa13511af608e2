"""The codecs of record batches: bytes in, bytes out, as Apache Kafka's Java code writes them.

No output beyond `limit_bytes` is allocated. The zstd decoder reserves the window that a frame
declares (at most 128 MiB, libzstd's own ceiling), but touches only what it fills.

Several gzip members, zstd frames (skippable ones too) and xerial streams in a row are one content,
as in Java. Bytes after it are refused; Java lets them pass in gzip and lz4. A second lz4 frame,
which nobody writes, is read since cramjam 2.14, while Java stops before it.

Not here: what is not compressed (compression.py, which loads this module once it is needed).
"""

import functools
import struct
import zlib
from typing import Final

import cramjam

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.compression import DEFAULT_LEVELS, Compression
from snakka.protocol.types import Buffer

_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_SNAPPY_EXPANSION_MAX: Final = 32  # a three-byte copy yields at most 64 bytes

_LZ4_HEADER: Final = bytes.fromhex("04224d18 60 40 82")  # v1, independent 64 KiB blocks, checksum
_LZ4_BLOCK_BYTES: Final = 64 * 1024
_LZ4_STORED: Final = 0x80000000
_LZ4_FLAGS_POSITION: Final = 4
_LZ4_CONTENT_SIZE_BIT: Final = 0x08
_LZ4_BLOCK_CHECKSUM_BIT: Final = 0x10
_LZ4_LOW: Final = 3  # the levels of the high compressor; Kafka's go from 1 to 17
_LZ4_HIGH: Final = 12

_FIRST_GUESS_BYTES: Final = 4096
_FIRST_GUESS_RATIO: Final = 8
_GUESS_GROWTH: Final = 4

_BLOCK_LENGTH = struct.Struct(">i")
_LZ4_LENGTH = struct.Struct("<I")

_CRAMJAM: Final = {
    Compression.GZIP: cramjam.gzip,
    Compression.LZ4: cramjam.lz4,
    Compression.ZSTD: cramjam.zstd,
}


def compress(codec: Compression, data: Buffer, level: int) -> Buffer:
    match codec:
        case Compression.GZIP:
            return zlib.compress(data, level, wbits=31)
        case Compression.SNAPPY:
            return _compress_xerial(data)
        case Compression.LZ4:
            return _compress_lz4(data, level)
        case Compression.ZSTD:
            return bytes(cramjam.zstd.compress(data, level))
        case Compression.NONE:
            return data


def decompress(codec: Compression, data: Buffer, limit_bytes: int) -> Buffer:
    match codec:
        case Compression.SNAPPY:
            return _decompress_snappy(data, limit_bytes)
        case Compression.GZIP | Compression.LZ4 | Compression.ZSTD:
            return _decompress_growing(codec, data, limit_bytes)
        case Compression.NONE:
            return data


def _decompress_growing(codec: Compression, data: Buffer, limit_bytes: int) -> memoryview:
    """Into a buffer of a guessed size that grows up to the limit, and never past it."""
    decompress_into = _CRAMJAM[codec].decompress_into
    size = min(_FIRST_GUESS_BYTES + _FIRST_GUESS_RATIO * len(data), limit_bytes)
    while True:
        output = bytearray(size)
        try:
            written = decompress_into(data, output)
        except cramjam.DecompressionError as error:
            reason = str(error)
        else:
            # Not cut to size: a buffer that is freed as large as it was allocated is used again for
            # the next batch, where a shrunken one costs fresh pages each time, 2 ms per MB of lz4.
            return memoryview(output)[:written]
        del output  # before the larger one is allocated, or an error's traceback holds it
        if reason != _full_output_message(codec):
            raise _malformed(codec, reason)
        if size == limit_bytes:
            raise _too_large(codec, limit_bytes)
        size = min(size * _GUESS_GROWTH, limit_bytes)


@functools.cache
def _full_output_message(codec: Compression) -> str:
    """How this cramjam says that the output does not fit, for which it has no exception."""
    module = _CRAMJAM[codec]
    try:
        module.decompress_into(module.compress(b"two"), bytearray(1))
    except cramjam.DecompressionError as error:
        return str(error)
    raise AssertionError(f"cramjam.{codec.name.lower()} wrote past its output")


def _compress_xerial(data: Buffer) -> bytes:
    source = memoryview(data)
    parts = [_XERIAL_HEADER]
    for start in range(0, len(source), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(source[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: Buffer, limit_bytes: int) -> bytearray:
    source = memoryview(data)
    blocks = _xerial_blocks(source) if _is_xerial(source) else [source]
    sizes = [_snappy_size(block) for block in blocks]
    if sum(sizes) > limit_bytes:
        raise _too_large(Compression.SNAPPY, limit_bytes)
    output = bytearray(sum(sizes))
    start = 0
    try:
        with memoryview(output) as target:
            for block, size in zip(blocks, sizes, strict=True):
                cramjam.snappy.decompress_raw_into(block, target[start : start + size])
                start += size
    except cramjam.DecompressionError as error:
        reason = str(error)
    else:
        return output
    del output  # or the error's traceback holds it
    raise _malformed(Compression.SNAPPY, reason)


def _is_xerial(source: memoryview) -> bool:
    return bytes(source[: len(_XERIAL_MAGIC)]) == _XERIAL_MAGIC


def _xerial_blocks(source: memoryview) -> list[memoryview]:
    blocks = []
    position = 0
    while position < len(source):
        if _is_xerial(source[position:]):
            position += len(_XERIAL_HEADER)  # whose versions several clients have written wrongly
        if position + _BLOCK_LENGTH.size > len(source):
            break
        (size,) = _BLOCK_LENGTH.unpack_from(source, position)
        position += _BLOCK_LENGTH.size
        if not 0 < size <= len(source) - position:
            raise _malformed(Compression.SNAPPY, f"block of {size} bytes", position)
        blocks.append(source[position : position + size])
        position += size
    if position != len(source):
        raise _malformed(Compression.SNAPPY, "truncated", position)
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
    parts: list[bytes | memoryview] = [_LZ4_HEADER]
    for start in range(0, len(source), _LZ4_BLOCK_BYTES):
        plain = source[start : start + _LZ4_BLOCK_BYTES]
        block = _lz4_block(plain, level)
        if len(block) < len(plain):
            parts += (_LZ4_LENGTH.pack(len(block)), block)
        else:
            parts += (_LZ4_LENGTH.pack(len(plain) | _LZ4_STORED), plain)
    parts.append(_LZ4_LENGTH.pack(0))
    return b"".join(parts)


def _lz4_block(plain: memoryview, level: int) -> bytes:
    """One block on its own: in frames of blocks that need one another Java reads nothing."""
    highly = None
    if level != DEFAULT_LEVELS[Compression.LZ4]:
        # cramjam compresses highly only into frames, so the block is taken out of one.
        frame = bytes(cramjam.lz4.compress(plain, min(max(level, _LZ4_LOW), _LZ4_HIGH)))
        highly = _only_lz4_block(frame)
    return highly or bytes(cramjam.lz4.compress_block(plain, store_size=False))


def _only_lz4_block(frame: bytes) -> bytes | None:
    """The block of a frame that has only one; before 2.14 cramjam cut 64 KiB into eight."""
    flags = frame[_LZ4_FLAGS_POSITION]
    start = len(_LZ4_HEADER) + (8 if flags & _LZ4_CONTENT_SIZE_BIT else 0) + _LZ4_LENGTH.size
    (size,) = _LZ4_LENGTH.unpack_from(frame, start - _LZ4_LENGTH.size)
    end = start + (size & ~_LZ4_STORED)
    after = end + (4 if flags & _LZ4_BLOCK_CHECKSUM_BIT else 0)
    (next_size,) = _LZ4_LENGTH.unpack_from(frame, after)
    return None if next_size else frame[start:end]


def _malformed(codec: Compression, reason: str, offset: int = 0) -> MalformedError:
    return MalformedError(f"{codec.name.lower()} data", offset, reason)


def _too_large(codec: Compression, limit_bytes: int) -> MalformedError:
    return _malformed(codec, f"more than {limit_bytes} bytes when decompressed")
