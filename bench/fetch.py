"""What a fetch costs by the partitions it is about: `python -m bench.fetch [directory]`.

A client that follows 10 partitions, and one that follows 10,000, of which one is written to. An
incremental fetch (KIP-227) is to cost the same for both; a full one, as clients without sessions
send it, costs what it names. Everything from the request's bytes to the answer's is timed, on real
logs, without sockets.

How to read it: microseconds of the fastest round, and how much the larger one costs over the
smaller one in the same run. Goal: under 1.5 for the incremental fetch.
"""

import argparse
import asyncio
import resource
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench.timing import time_in_turns
from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.replication.replica import Replica
from tests.apis.broker import NOW_MS, TestBroker

COUNTS: Final = (10, 10_000)
ROUNDS: Final = 20
VERSION: Final = 12


class Follower:
    """A client of so many partitions, the last of which is the one that is written to."""

    def __init__(self, broker: TestBroker, count: int, active: Replica) -> None:
        self._broker = broker
        self._active = active
        self._count = count
        self._offset = active.log.log_end_offset
        response = self._ask(self._partitions(), 0, 0)
        assert len(response.responses[0].partitions) == count
        self._session_id, self._epoch = response.session_id, 1

    def fetch_incrementally(self) -> None:
        """A record is written, fetched, and its offset named by the fetch after it."""
        append(self._active)
        named = FetchPartition(
            partition=self._active.index, fetch_offset=self._offset, partition_max_bytes=1 << 20
        )
        found = self._ask([named], self._session_id, self._epoch).responses[0].partitions
        assert len(found) == 1
        self._epoch += 1
        self._offset = self._active.log.log_end_offset

    def fetch_in_full(self) -> None:
        append(self._active)
        found = self._ask(self._partitions(), 0, -1).responses[0].partitions
        assert len(found) == self._count
        self._offset = self._active.log.log_end_offset

    def _partitions(self) -> list[FetchPartition]:
        indexes = [*range(self._count - 1), self._active.index]
        return [
            FetchPartition(
                partition=index,
                fetch_offset=self._offset if index == self._active.index else 0,
                partition_max_bytes=1 << 20,
            )
            for index in indexes
        ]

    def _ask(self, named: list[FetchPartition], session_id: int, epoch: int) -> FetchResponse:
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            session_id=session_id,
            session_epoch=epoch,
            topics=[FetchTopic(topic="t", partitions=named)],
            forgotten_topics_data=[],
        )
        return asyncio.get_event_loop().run_until_complete(
            self._broker.ask(request, VERSION, FetchResponse)
        )


def append(replica: Replica) -> None:
    replica.append_from_client(
        bytearray(build_batch([Record(0, NOW_MS, None, b"x" * 100)])),
        needs_all=False,
        now_ms=NOW_MS,
    )
    replica.write()


def compare(kind: str, calls: dict[str, Callable[[], object]]) -> None:
    seconds = time_in_turns(calls, ROUNDS)
    few, many = seconds.values()
    for name, each in seconds.items():
        print(f"{kind} fetch over {name:>7} partitions: {each * 1e6:10.1f} us")
    print(f"{kind} fetch, the larger over the smaller: {many / few:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What fetches over few and many partitions cost; takes about a minute.",
        epilog="Example: python -m bench.fetch /dev/shm",
    )
    parser.add_argument("directory", nargs="?", default="/dev/shm", help="where the logs lie")
    directory = Path(tempfile.mkdtemp(prefix="snakka-bench-", dir=parser.parse_args().directory))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    asyncio.set_event_loop(asyncio.new_event_loop())
    try:
        broker = TestBroker(directory)
        replicas = [broker.create("t", index=index) for index in range(max(COUNTS))]
        followers = {f"{count:,}": Follower(broker, count, replicas[-1]) for count in COUNTS}
        compare("incremental", {name: each.fetch_incrementally for name, each in followers.items()})
        compare("full", {name: each.fetch_in_full for name, each in followers.items()})
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
