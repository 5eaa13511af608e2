"""Records and batches that the tests of this package share, and how bytes are damaged."""

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st

from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.record import Header, Record

TIMESTAMP_MS = 1_700_000_000_000

RECORDS = (
    Record(100, TIMESTAMP_MS, b"key", b"value"),
    Record(101, TIMESTAMP_MS + 70_000, None, b"no key"),
    Record(103, TIMESTAMP_MS - 5, b"tombstone", None),
    Record(104, TIMESTAMP_MS, b"", b"", (("trace", b"\x00\xff"), ("", None), ("größe", b""))),
    Record(300, TIMESTAMP_MS, b"k" * 200, b"v" * 20_000),
)

CODECS = tuple(Compression)

# The same examples in every run, however slow the machine.
STEADY = settings(derandomize=True, deadline=None)

_headers = st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5))


@st.composite
def records(draw: st.DrawFn, max_size: int = 12) -> list[Record]:
    """Records of one batch: offsets rise, with gaps."""
    count = draw(st.integers(1, max_size))
    offset = draw(st.integers(0, 1 << 40))
    drawn = []
    for _ in range(count):
        key = draw(st.none() | st.binary(max_size=90))
        value = draw(st.none() | st.binary(max_size=200))
        headers: Sequence[Header] = draw(st.lists(_headers, max_size=2))
        timestamp_ms = TIMESTAMP_MS + draw(st.integers(-(1 << 33), 1 << 33))
        drawn.append(Record(offset, timestamp_ms, key, value, tuple(headers)))
        offset += draw(st.sampled_from((1, 1, 1, 2, 200)))
    return drawn


@st.composite
def batch_bytes(draw: st.DrawFn) -> bytes:
    """Any batch that the builder makes."""
    return build_batch(
        draw(records()),
        compression=draw(st.sampled_from(CODECS)),
        log_append_time=draw(st.none() | st.just(TIMESTAMP_MS + 1)),
    )


@st.composite
def damaged(draw: st.DrawFn, whole: bytes, first: int = 0) -> bytes:
    """`whole` after some bytes from `first` on were changed, removed or put in."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(min(first, len(data)), len(data)))
        end = position + draw(st.integers(0, 3))
        data[position:end] = draw(st.binary(max_size=3))
    return bytes(data)


def only_batch(data: bytes) -> Batch:
    (batch,) = batches(data)
    return batch
