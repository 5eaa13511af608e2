"""One client's connection: frames in, answers out in the order of their requests.

All whole frames of one wake-up are served before anything is written, but those of a client that
takes long wait for the next turn, so that others have theirs. Work of one connection overlaps; an
answer that is ready early waits for those before it. A client that does not read its answers, or
has too many requests under way, is not read from.

A frame is valid until its handler first waits for something. Whatever goes wrong ends this
connection alone.

Not here: what is in a frame (apis/), how many connections there may be (gate.py).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from snakka.apis.context import Peer
from snakka.apis.errors import UnansweredError
from snakka.net.complaints import Complaints
from snakka.net.eager import Waiting, start
from snakka.net.gate import Gate
from snakka.net.outbox import Outbox
from snakka.protocol.codec import Chunk
from snakka.protocol.errors import MalformedError, UnsupportedVersionError
from snakka.protocol.inbox import BufferPool, Inbox

Answer: TypeAlias = list[Chunk] | None  # None where the client expects nothing

log = logging.getLogger(__name__)

_TURN_S: Final = 0.005
_UNSENT_BYTES_MAX: Final = 1024 * 1024


Serve: TypeAlias = Callable[[memoryview, Peer], Coroutine[Any, Any, Answer]]


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What connections of a listener share."""

    listener: str
    serve: Serve
    gate: Gate
    pool: BufferPool
    frame_bytes_max: int
    requests_in_flight_max: int
    complaints: Complaints = field(default_factory=Complaints)


@dataclass(slots=True)
class _Slot:
    """The place of an answer among those of its connection."""

    is_done: bool = False
    answer: Answer = None


class Connection(asyncio.BufferedProtocol):
    """The protocol of one accepted socket."""

    def __init__(
        self,
        settings: ConnectionSettings,
        on_made: Callable[["Connection"], None],
        on_lost: Callable[["Connection"], None],
    ) -> None:
        self._settings = settings
        self._on_made = on_made
        self._on_lost = on_lost
        self._inbox = Inbox(settings.pool, settings.frame_bytes_max)
        self._slots: deque[_Slot] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_reading = True
        self._is_settling = False
        self._has_unserved = False
        self._is_turn_due = False
        self._is_closing = False
        self.last_active_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by class
        self._outbox = Outbox(self._transport, self._loop, self._close_if_done)
        self._on_made(self)
        self.last_active_s = self._loop.time()
        # One that was reset before it was accepted has no address any more, and is soon lost.
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.peer = Peer(self._settings.listener, host, port)
        descriptor = transport.get_extra_info("socket").fileno()
        refusal = self._settings.gate.admit(host, descriptor)
        self._is_admitted = refusal is None
        if refusal is not None:
            self._complain("refusing a connection of %s: %s", self.peer, refusal)
            self.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._inbox.space()

    def buffer_updated(self, nbytes: int) -> None:
        self._inbox.received(nbytes)
        self.last_active_s = self._loop.time()
        self._serve_frames()

    def eof_received(self) -> bool:
        """A client that sends no more may still wait for answers."""
        self._is_closing = True
        self._settle_unless_used()
        return not self._has_sent_all

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closing = True
        for task in self._tasks:
            task.cancel()
        self._outbox.close()
        self._settle_unless_used()
        if self._is_admitted:
            self._settings.gate.leave(self.peer.host)
        self._on_lost(self)

    def pause_writing(self) -> None:
        self._outbox.pause()

    def resume_writing(self) -> None:
        self._outbox.resume()
        self._update_reading()

    def close(self) -> None:
        """Ends the connection once what is under way has been answered."""
        self._is_closing = True
        self._close_if_done()

    def abort(self) -> None:
        self._is_closing = True
        self._transport.abort()

    @property
    def is_idle(self) -> bool:
        return not self._slots

    @property
    def _has_sent_all(self) -> bool:
        return not self._slots and self._outbox.is_empty

    def _close_if_done(self) -> None:
        if self._is_closing and self._has_sent_all:
            self._transport.close()

    def _serve_frames(self) -> None:
        self._is_turn_due = False
        self._has_unserved = True
        turn_ends_s = self._loop.time() + _TURN_S
        try:
            while self._has_room() and not self._transport.is_closing():
                frame = self._inbox.take_frame()
                if frame is None:
                    self._has_unserved = False
                    break
                self._serve_frame(frame)
                if self._loop.time() > turn_ends_s:
                    break
        except MalformedError as error:
            self._fail("sent %s", error)
        self._outbox.flush()
        self._update_reading()
        self._settle_soon()

    def _serve_frame(self, frame: memoryview) -> None:
        try:
            outcome = start(self._settings.serve(frame, self.peer))
        except (MalformedError, UnsupportedVersionError) as error:
            self._fail("sent a request that cannot be answered: %s", error)
            return
        except UnansweredError as error:
            self._end(error)
            return
        except Exception:
            self._fault()
            return
        if isinstance(outcome, Waiting):
            self._wait_for(outcome.rest)
        elif self._slots:
            self._slots.append(_Slot(True, outcome))
        elif outcome is not None:
            self._outbox.put(outcome)

    def _wait_for(self, rest: Coroutine[Any, Any, Answer]) -> None:
        slot = _Slot()
        self._slots.append(slot)
        task = self._loop.create_task(self._finish(slot, rest))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _finish(self, slot: _Slot, rest: Coroutine[Any, Any, Answer]) -> None:
        try:
            slot.answer = await rest
        except UnansweredError as error:
            self._end(error)
            return
        except Exception:
            self._fault()
            return
        slot.is_done = True
        self._send_ready()

    def _send_ready(self) -> None:
        while self._slots and self._slots[0].is_done:
            answer = self._slots.popleft().answer
            if answer is not None:
                self._outbox.put(answer)
        self._outbox.flush()
        self._close_if_done()
        self._update_reading()

    def _has_room(self) -> bool:
        """Whether one more request may be taken up, for it and for its answer."""
        return (
            len(self._slots) < self._settings.requests_in_flight_max
            and self._outbox.size_bytes < _UNSENT_BYTES_MAX
        )

    def _update_reading(self) -> None:
        """Reads on only when there is room, and all that is here has been served."""
        if self._transport.is_closing():
            return
        has_room = self._has_room()
        if has_room and self._has_unserved and not self._is_turn_due:
            self._is_turn_due = True
            self._loop.call_soon(self._serve_frames)
        may_read = has_room and not self._has_unserved
        if may_read != self._is_reading:
            self._is_reading = may_read
            if may_read:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _settle_soon(self) -> None:
        """Lets go of the buffer once what the handlers left for this turn's end has been done."""
        if not self._is_settling:
            self._is_settling = True
            self._loop.call_soon(self._settle)

    def _settle_unless_used(self) -> None:
        """Of thousands that end at once, each is given a buffer to read that into."""
        if not self._is_settling:
            self._settle()

    def _settle(self) -> None:
        self._is_settling = False
        if not self._has_unserved:
            self._inbox.settle()

    def _fail(self, complaint: str, error: Exception) -> None:
        self._complain("closing the connection of %s, which " + complaint, self.peer, error)
        self.abort()

    def _fault(self) -> None:
        self._complain("closing the connection of %s: its request failed", self.peer, is_fault=True)
        self.abort()

    def _complain(self, text: str, *arguments: object, is_fault: bool = False) -> None:
        complaints = self._settings.complaints
        if complaints.admit(self._loop.time()):
            level = logging.ERROR if is_fault else logging.WARNING
            log.log(level, text, *arguments, exc_info=is_fault)
            if unsaid := complaints.take_unsaid():
                log.warning("%d more complaints of clients were not logged", unsaid)

    def _end(self, error: UnansweredError) -> None:
        log.info("closing the connection of %s: %s", self.peer, error)
        self.abort()
