"""A fault script: what a broker is to do wrong, by API, and how often.

Faults are used up in the order in which they were added; several of one API follow one another.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

from snakka.apis.context import Peer
from snakka.apis.errors import UnansweredError
from snakka.net.connection import Answer, Serve
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.codec import decoder
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import read_request_header, write_response
from snakka.protocol.refusals import refusal


@dataclass(slots=True)
class _Fault:
    """One kind of misbehaviour, and how many requests it is still for; None: all of them."""

    key: ApiKey
    serve: Callable[[Serve], Serve]
    times_left: int | None


class FaultScript:
    """The faults of one broker. They may be added from any thread, and hold when the call returns.

    `times=None` holds until `clear()`.
    """

    def __init__(self) -> None:
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()

    def delay(self, key: ApiKey, seconds: float, *, times: int | None = 1) -> None:
        """Requests are served late."""

        def late(serve: Serve) -> Serve:
            async def served(frame: memoryview, peer: Peer) -> Answer:
                kept = memoryview(bytearray(frame))  # a frame is lost at the first wait
                await asyncio.sleep(seconds)
                return await serve(kept, peer)

            return served

        self._add(key, late, times)

    def drop(self, key: ApiKey, *, times: int | None = 1) -> None:
        """The connection ends instead of the request being served."""

        def dropped(serve: Serve) -> Serve:
            async def served(frame: memoryview, peer: Peer) -> Answer:
                raise UnansweredError("the fault script drops the request")

            return served

        self._add(key, dropped, times)

    def drop_answer(self, key: ApiKey, *, times: int | None = 1) -> None:
        """The request is served, and then the connection ends: the client cannot know."""

        def unanswered(serve: Serve) -> Serve:
            async def served(frame: memoryview, peer: Peer) -> Answer:
                await serve(frame, peer)
                raise UnansweredError("the fault script drops the answer")

            return served

        self._add(key, unanswered, times)

    def answer(self, key: ApiKey, code: ErrorCode, *, times: int | None = 1) -> None:
        """The request is not served, and everything in it is answered with `code`."""

        def refusing(serve: Serve) -> Serve:
            async def served(frame: memoryview, peer: Peer) -> Answer:
                return _refuse(frame, code)

            return served

        self._add(key, refusing, times)

    def clear(self) -> None:
        """From here on the broker does everything right."""
        with self._lock:
            self._faults.clear()

    def around(self, serve: Serve) -> Serve:
        """`serve`, but for what the script says."""

        async def served(frame: memoryview, peer: Peer) -> Answer:
            fault = self._take(read_request_header(frame)[0].request_api_key)
            return await (serve if fault is None else fault.serve(serve))(frame, peer)

        return served

    def _add(self, key: ApiKey, serve: Callable[[Serve], Serve], times: int | None) -> None:
        if times is not None and times < 1:
            raise ValueError(f"times={times}: a fault is for one request at least")
        with self._lock:
            self._faults.append(_Fault(key, serve, times))

    def _take(self, key: int) -> _Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.key == key:
                    if fault.times_left is not None:
                        fault.times_left -= 1
                        if fault.times_left == 0:
                            self._faults.remove(fault)
                    return fault
        return None


def _refuse(frame: memoryview, code: ErrorCode) -> Answer:
    header, position = read_request_header(frame)
    version = header.request_api_version
    request, _ = decoder(request_type(ApiKey(header.request_api_key)), version)(frame, position)
    response = refusal(request, version, code)
    return write_response(response, version, correlation_id=header.correlation_id)
