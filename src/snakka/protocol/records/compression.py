"""The codecs of record batches, and their content in and out of them.

Every decompression is bounded by `limit_bytes`: whatever a frame claims or expands to, no output
beyond the limit is allocated.

Not here: the codecs themselves (codecs.py), which one a topic wants, where the limit comes from.
"""

from enum import IntEnum
from typing import Final

from snakka.protocol.types import Buffer

DEFAULT_LIMIT_BYTES: Final = 128 * 1024 * 1024


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


# A broker stores what it is sent: the library of the codecs is loaded with the first batch that has
# to be looked into, and many never see one.


def compress(codec: Compression, data: Buffer, *, level: int | None = None) -> Buffer:
    """`data` in the codec's frame, at `level` or Kafka's default one."""
    if codec is Compression.NONE:
        return data
    from snakka.protocol.records import codecs

    return codecs.compress(codec, data, DEFAULT_LEVELS.get(codec, 0) if level is None else level)


def decompress(codec: Compression, data: Buffer, *, limit_bytes: int) -> Buffer:
    """The content of `data`; `MalformedError` when it is damaged or larger than `limit_bytes`."""
    if codec is Compression.NONE:
        return data
    from snakka.protocol.records import codecs

    return codecs.decompress(codec, data, limit_bytes)
