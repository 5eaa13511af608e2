"""The codecs: their frames, their levels, and the limit that no input gets past."""

import random
import struct
import tracemalloc
import zlib

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.compression import Compression, compress, decompress
from snakka.protocol.types import Buffer
from tests.protocol.records.samples import STEADY, damaged

MIB = 1 << 20
GZIP, SNAPPY, LZ4, ZSTD = (
    Compression.GZIP,
    Compression.SNAPPY,
    Compression.LZ4,
    Compression.ZSTD,
)
CODECS = (GZIP, SNAPPY, LZ4, ZSTD)
WORDS = b" ".join(b"%d bottles of beer on the wall" % count for count in range(4000))
NOISE = random.Random(1).randbytes(200_000)
CONTENTS = {"nothing": b"", "a byte": b"x", "words": WORDS, "noise": NOISE, "zeros": bytes(MIB)}
SKIPPABLE = struct.pack("<II", 0x184D2A50, 3) + b"abc"


def frame(codec: Compression, content: bytes) -> bytes:
    return bytes(compress(codec, content))


def content_of(codec: Compression, data: Buffer, limit_bytes: int = 4 * MIB) -> bytes:
    return bytes(decompress(codec, data, limit_bytes=limit_bytes))


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("codec", Compression)
def test_a_frame_holds_its_content(codec: Compression, content: bytes) -> None:
    for kind in (bytes, bytearray, memoryview):
        assert content_of(codec, kind(compress(codec, kind(content)))) == content


@STEADY
@given(st.sampled_from(CODECS), st.binary(max_size=2000), st.integers(1, 50))
def test_any_content(codec: Compression, content: bytes, times: int) -> None:
    assert content_of(codec, frame(codec, content * times)) == content * times


@pytest.mark.parametrize(
    ("codec", "levels"),
    [(GZIP, range(1, 10)), (LZ4, (1, 3, 9, 12, 13, 17)), (ZSTD, (-131072, -7, 1, 3, 19, 22))],
)
def test_levels_of_kafka(codec: Compression, levels: range) -> None:
    for level in levels:
        assert content_of(codec, compress(codec, WORDS, level=level)) == WORDS


def test_the_default_lz4_level_is_the_fast_one() -> None:
    assert compress(LZ4, WORDS) == compress(LZ4, WORDS, level=9)
    assert len(compress(LZ4, WORDS, level=8)) < len(compress(LZ4, WORDS))


@pytest.mark.parametrize("codec", CODECS)
def test_content_of_exactly_the_limit_and_one_byte_more(codec: Compression) -> None:
    for content in (WORDS, NOISE, bytes(MIB)):
        data = frame(codec, content)
        assert content_of(codec, data, limit_bytes=len(content)) == content
        with pytest.raises(MalformedError, match=f"more than {len(content) - 1} bytes"):
            content_of(codec, data, limit_bytes=len(content) - 1)


def snappy_claiming(size: int, block: bytes = b"\0") -> bytes:
    """A raw snappy block whose preamble claims `size` bytes."""
    preamble = bytearray()
    while size > 127:
        preamble.append(size & 127 | 128)
        size >>= 7
    preamble.append(size)
    return bytes(preamble) + block


def xerial(*blocks: bytes) -> bytes:
    header = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    return header + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


BOMBS = {
    "gzip": (GZIP, zlib.compress(bytes(64 * MIB), 9, wbits=31)),
    "gzip members": (GZIP, frame(GZIP, bytes(MIB)) * 64),
    "lz4": (LZ4, frame(LZ4, bytes(64 * MIB))),
    "zstd": (ZSTD, frame(ZSTD, bytes(64 * MIB))),
    "zstd frames": (ZSTD, frame(ZSTD, bytes(MIB)) * 64),
    "zstd skippable frames": (ZSTD, (SKIPPABLE + frame(ZSTD, bytes(MIB))) * 64),
    "snappy": (SNAPPY, frame(SNAPPY, bytes(64 * MIB))),
    "snappy raw": (SNAPPY, bytes(cramjam.snappy.compress_raw(bytes(64 * MIB)))),
    "snappy claim": (SNAPPY, snappy_claiming((1 << 32) - 1)),
    "snappy claims": (SNAPPY, xerial(*[snappy_claiming(MIB, bytes(MIB // 32))] * 64)),
}


@pytest.mark.parametrize(("codec", "data"), BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_not_expanded(codec: Compression, data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(MalformedError):
            content_of(codec, data, limit_bytes=MIB + 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The buffer at the limit, beside the one a quarter its size that was too small before.
    assert peak < 1.5 * MIB


def test_lz4_frames_in_a_row_stay_below_the_limit() -> None:
    one = frame(LZ4, bytes(MIB))
    try:
        content = content_of(LZ4, one * 64, limit_bytes=MIB + 1)
    except MalformedError:
        return
    assert content == bytes(MIB)


def test_a_zstd_frame_declares_no_window_beyond_that_of_the_library() -> None:
    claims_an_exabyte = bytes.fromhex("28b52ffd e0 0000000000000010") + b"\x01\0\0"
    largest_window = bytes.fromhex("28b52ffd 00 ff") + b"\x01\0\0"
    for data in (claims_an_exabyte, largest_window):
        with pytest.raises(MalformedError):
            content_of(ZSTD, data, limit_bytes=MIB)


@pytest.mark.parametrize("codec", [GZIP, ZSTD, SNAPPY])
def test_frames_in_a_row_are_one_content(codec: Compression) -> None:
    assert content_of(codec, frame(codec, WORDS) + frame(codec, b"!")) == WORDS + b"!"


@pytest.mark.parametrize("data", [SKIPPABLE + frame(ZSTD, WORDS), frame(ZSTD, WORDS) + SKIPPABLE])
def test_skippable_zstd_frames_are_skipped(data: bytes) -> None:
    assert content_of(ZSTD, data) == WORDS


@pytest.mark.parametrize("codec", [GZIP, ZSTD, SNAPPY])
def test_bytes_after_the_content_are_refused(codec: Compression) -> None:
    with pytest.raises(MalformedError):
        content_of(codec, frame(codec, WORDS) + b"more")


@pytest.mark.parametrize("codec", CODECS)
def test_a_frame_cut_anywhere_is_refused(codec: Compression) -> None:
    data = frame(codec, WORDS[:300])
    # A xerial stream of no blocks is one that is empty.
    for size in set(range(len(data))) - ({16} if codec is SNAPPY else set()):
        with pytest.raises(MalformedError):
            content_of(codec, data[:size])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(xerial() + struct.pack(">i", -1), id="negative block length"),
        pytest.param(xerial(b""), id="no block"),
        pytest.param(xerial() + struct.pack(">i", 99) + b"abc", id="block too long"),
        pytest.param(xerial(snappy_claiming(3, b"\0a")), id="block too short"),
        pytest.param(xerial(snappy_claiming(0, b"\0a")), id="block with too much"),
        pytest.param(snappy_claiming(1 << 70), id="preamble of over 32 bits"),
        pytest.param(b"\xff" * 20, id="endless preamble"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_damaged_snappy_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        content_of(SNAPPY, data)


def test_snappy_is_written_in_xerial_blocks_and_read_raw_too() -> None:
    data = frame(SNAPPY, bytes(100_000))
    assert data.startswith(b"\x82SNAPPY\0\0\0\0\1\0\0\0\1")
    assert content_of(SNAPPY, bytes(cramjam.snappy.compress_raw(WORDS))) == WORDS


def test_wrong_xerial_versions_are_overlooked() -> None:
    data = bytearray(frame(SNAPPY, WORDS))
    data[8:16] = struct.pack("<ii", 1, 1)
    assert content_of(SNAPPY, bytes(data)) == WORDS


def test_lz4_frames_are_those_that_java_reads() -> None:
    data = frame(LZ4, WORDS)
    version_and_flags, block_size = data[4], data[5]
    assert version_and_flags == 0b0110_0000  # version 1, independent blocks, no checksums
    assert block_size == 0x40  # 64 KiB


@settings(STEADY, max_examples=150)
@given(st.sampled_from(CODECS), st.data())
def test_damage_is_refused_or_gives_some_content(codec: Compression, data: st.DataObject) -> None:
    changed = data.draw(damaged(frame(codec, WORDS[:500])))
    try:
        content = content_of(codec, changed, limit_bytes=1000)
    except MalformedError:
        return
    assert len(content) <= 1000
