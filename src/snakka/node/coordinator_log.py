"""A replica as the log that a coordinator keeps its records in."""

import asyncio

from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.coordinators.errors import LogRefusedError
from snakka.coordinators.ports import Timers
from snakka.replication.replica import Replica


class ReplicaLog:
    """The port of coordinators/ports.py over one replica."""

    def __init__(self, replica: Replica, timers: Timers) -> None:
        self._replica = replica
        self._timers = timers

    @property
    def start_offset(self) -> int:
        return self._replica.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self._replica.log.log_end_offset

    def append(self, batch: bytearray, leader_epoch: int, transaction_version: int = 0) -> int:
        replica = self._replica
        try:
            replica.append_from_coordinator(
                batch,
                now_ms=self._timers.now_ms(),
                leader_epoch=leader_epoch,
                transaction_version=transaction_version,
            )
            replica.write()
        except TOLD_ERRORS as error:
            raise LogRefusedError(error_code(error)) from error
        return replica.log.log_end_offset

    def committed(self, offset: int) -> asyncio.Future[None]:
        future = asyncio.get_running_loop().create_future()
        if self._replica.log.high_watermark >= offset:
            future.set_result(None)
        else:
            self._replica.waiters.add_offset(offset, future)
        return future

    async def read(self, offset: int, max_bytes: int) -> bytes:
        log = self._replica.log
        try:
            found = log.read(offset, max_bytes=max_bytes, max_offset=log.log_end_offset)
        except TOLD_ERRORS as error:
            raise LogRefusedError(error_code(error)) from error
        return await asyncio.to_thread(found.copy)
