"""Reading a partition's log from its start, in bounded pieces, into a machine.

Everything in the log counts, committed or not: a leader's log is what the others will have.
"""

import asyncio
from typing import Final

from snakka.coordinators.framing import EndTransaction, RecordTypes, read
from snakka.coordinators.ports import CoordinatorLog, Machine
from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import Batch, batches

READ_BYTES_MAX: Final = 5 * 1024 * 1024  # offsets.load.buffer.size


async def load(
    machine: Machine, log: CoordinatorLog, types: RecordTypes, read_bytes_max: int = READ_BYTES_MAX
) -> None:
    """Returns with all of the log replayed, and no await since its end was looked at."""
    offset = log.start_offset
    while offset < log.end_offset:
        chunk = await log.read(offset, read_bytes_max)
        following = offset
        for batch in batches(chunk, ignore_partial_tail=True):
            replay(machine, batch, types)
            following = batch.header.next_offset
            await asyncio.sleep(0)  # a long log is not to stall everybody else
        if chunk and following == offset:
            raise MalformedError("coordinator's log", offset, "a read without a whole batch")
        # Where nothing is left to read, compaction has emptied what lies before the end.
        offset = following if chunk else log.end_offset


def replay(machine: Machine, batch: Batch, types: RecordTypes) -> None:
    """Everything that a batch of the log says."""
    batch.verify_crc()
    for entry in read(batch, types):
        if isinstance(entry, EndTransaction):
            machine.replay_end_transaction(entry.producer_id, entry.is_committed)
        else:
            machine.replay(entry)
