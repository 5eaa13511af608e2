"""The twins agree: on what they accept, on what they refuse, and on every buffer of the result."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records import _columns_python
from snakka.protocol.records.batch import Batch
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.column_buffers import Columns, KeySpan
from snakka.protocol.records.record import Record
from tests.protocol.records.samples import RECORDS, STEADY, damaged, only_batch, records
from tests.protocol.records.twins import Twin, compiled


def outcome(twin: Twin, batch: Batch, section: bytes) -> tuple[object, object]:
    """What a twin makes of a section, where a refusal is an outcome, too."""
    builder = twin.ColumnsBuilder()
    decoded: Columns | None = None
    spans: list[KeySpan] | None = None
    with suppress(MalformedError):
        builder.append(batch.header, section, 0, 1 << 62)
        decoded = builder.finish(0)
    with suppress(MalformedError):
        spans = twin.scan_keys(batch.header, section)
    return decoded, spans


def assert_twins_agree(batch: Batch, section: bytes) -> None:
    decoded, spans = outcome(compiled(), batch, section)
    assert (decoded, spans) == outcome(_columns_python, batch, section)
    if decoded is not None:
        assert spans is not None


def test_the_twins_agree_wherever_a_section_is_cut() -> None:
    batch = only_batch(build_batch(RECORDS[:4]))
    section = bytes(batch.section())
    for size in range(len(section)):
        assert_twins_agree(batch, section[:size])
        assert outcome(_columns_python, batch, section[:size]) == (None, None)


def test_the_twins_agree_whichever_bit_is_flipped() -> None:
    batch = only_batch(build_batch(RECORDS[:4]))
    section = bytearray(batch.section())
    for bit in range(8 * len(section)):
        section[bit // 8] ^= 1 << bit % 8
        assert_twins_agree(batch, bytes(section))
        section[bit // 8] ^= 1 << bit % 8


@settings(STEADY, max_examples=400)
@given(records(max_size=6), st.data())
def test_the_twins_agree_on_damaged_sections(made: list[Record], data: st.DataObject) -> None:
    batch = only_batch(build_batch(made))
    assert_twins_agree(batch, data.draw(damaged(bytes(batch.section()))))


@settings(STEADY, max_examples=200)
@given(st.binary(max_size=80), st.integers(0, 8))
def test_the_twins_agree_on_any_bytes(section: bytes, count: int) -> None:
    header = only_batch(build_batch(RECORDS)).header._replace(record_count=count)
    assert_twins_agree(Batch(header, memoryview(b"")), section)


VARLONGS = st.sampled_from(
    [bytes.fromhex(text) for text in ("ff" * 9 + "01", "fe" + "ff" * 8 + "01", "8000", "00")]
)


@STEADY
@given(VARLONGS, st.sampled_from([-(1 << 63), -1, 0, (1 << 63) - 1]), st.booleans())
def test_the_twins_agree_on_timestamps_at_the_edge(
    delta: bytes, base_timestamp: int, is_stamped: bool
) -> None:
    body = b"\0" + delta + bytes.fromhex("00 01 01 00")
    section = bytes((2 * len(body),)) + body
    header = only_batch(build_batch(RECORDS)).header._replace(
        attributes=8 * is_stamped, base_timestamp=base_timestamp, record_count=1
    )
    assert_twins_agree(Batch(header, memoryview(b"")), section)
