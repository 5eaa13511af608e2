"""Frames out of bytes that arrive in any pieces, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.inbox import READ_BYTES, BufferPool, Inbox

LIMIT = 10_000_000


def framed(*contents: bytes) -> bytes:
    return b"".join(len(content).to_bytes(4) + content for content in contents)


def feed(inbox: Inbox, data: bytes) -> None:
    """Puts all of `data`, as reads from a socket would."""
    while data:
        space = inbox.space()
        count = min(len(space), len(data))
        space[:count] = data[:count]
        inbox.received(count)
        data = data[count:]


def taken(inbox: Inbox) -> list[bytes]:
    frames = []
    while (frame := inbox.take_frame()) is not None:
        frames.append(bytes(frame))
    return frames


@given(
    contents=st.lists(st.binary(max_size=300), max_size=20),
    cuts=st.lists(st.integers(1, 400), min_size=1),
    settles=st.lists(st.booleans(), min_size=1),
)
def test_frames_come_out_whole_however_they_arrive(
    contents: list[bytes], cuts: list[int], settles: list[bool]
) -> None:
    inbox = Inbox(BufferPool(), LIMIT)
    data, got, turn = framed(*contents), [], 0
    while data:
        cut = cuts[turn % len(cuts)]
        feed(inbox, data[:cut])
        data = data[cut:]
        got += taken(inbox)
        if settles[turn % len(settles)]:
            inbox.settle()
        turn += 1
    assert got == contents


def test_frames_larger_than_a_buffer() -> None:
    inbox = Inbox(BufferPool(), LIMIT)
    contents = [b"a" * READ_BYTES, b"b", b"c" * 3_000_000, b"", b"d" * (READ_BYTES - 4)]
    feed(inbox, framed(*contents))
    assert taken(inbox) == contents


def test_a_frame_in_use_is_not_overwritten_by_what_follows() -> None:
    inbox = Inbox(BufferPool(), LIMIT)
    feed(inbox, framed(b"first") + framed(b"x" * READ_BYTES)[: READ_BYTES - 9])
    first = inbox.take_frame()
    feed(inbox, framed(b"x" * READ_BYTES)[READ_BYTES - 9 :])
    assert first is not None
    assert bytes(first) == b"first"
    assert taken(inbox) == [b"x" * READ_BYTES]


def test_an_idle_connection_holds_no_buffer() -> None:
    pool = BufferPool()
    inboxes = [Inbox(pool, LIMIT) for _ in range(100)]
    for inbox in inboxes:
        feed(inbox, framed(b"request") + b"\0\0")
        assert taken(inbox) == [b"request"]
        inbox.settle()
    assert len(pool._free[READ_BYTES]) == 1
    for inbox in inboxes:
        feed(inbox, framed(b"next")[2:])
        assert taken(inbox) == [b"next"]


def test_a_large_frame_is_read_into_a_buffer_that_was_used_before() -> None:
    pool = BufferPool()
    inbox = Inbox(pool, LIMIT)
    buffers = set()
    for content in (b"a" * 1_000_000, b"b" * 1_000_001, b"c" * 1_000_002):
        feed(inbox, framed(content))
        buffers.add(id(inbox._buffer))
        assert taken(inbox) == [content]
        inbox.settle()
    assert len(buffers) == 1


def test_what_is_kept_for_reuse_is_bounded() -> None:
    pool = BufferPool()
    inboxes = [Inbox(pool, LIMIT) for _ in range(40)]
    for inbox in inboxes:
        feed(inbox, framed(b"x" * 1_000_000))
    for inbox in inboxes:
        assert len(taken(inbox)) == 1
        inbox.settle()
    kept = [len(each) for free in pool._free.values() for each in free]
    assert sum(kept) == pool._free_bytes <= 16 * 1024 * 1024


def test_memory_follows_what_was_received_and_not_what_was_announced() -> None:
    inbox = Inbox(BufferPool(), LIMIT)
    feed(inbox, (LIMIT).to_bytes(4) + b"x" * READ_BYTES)
    assert len(inbox.space()) < 2 * 1024 * 1024


@pytest.mark.parametrize("size", [LIMIT + 1, -1])
def test_a_size_that_cannot_be_is_refused(size: int) -> None:
    inbox = Inbox(BufferPool(), LIMIT)
    feed(inbox, size.to_bytes(4, signed=True))
    with pytest.raises(MalformedError):
        inbox.take_frame()
