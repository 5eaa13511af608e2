"""A Python client that the tests drive: one order a line, a JSON object, answered with one line.

The orders are those of ../go/main.go. What differs between the libraries stands behind `Library`;
what is right is for the tests to say.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Final, Protocol

Order = dict[str, Any]
Answer = dict[str, Any]
Record = dict[str, Any]

ORDER_TIMEOUT_S: Final = 60
MEMBERS: Final = 3
SHARE_OF: Final = 10
PER_TRANSACTION: Final = 10


class Producer(Protocol):
    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        """The offsets, once all of them are acknowledged."""

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class Consumer(Protocol):
    """A member of a group, or of none: then it reads all partitions from their start."""

    def poll(self, count: int) -> list[Record]:
        """What came within a moment; at most so many."""

    def commit(self) -> None: ...

    def commit_in(self, producer: Producer) -> None:
        """The positions become part of the producer's transaction."""

    def rewind(self) -> None:
        """Goes back to what is committed."""

    def close(self) -> None: ...


class Library(Protocol):
    def producer(self, order: Order, transactional_id: str | None = None) -> Producer: ...

    def consumer(self, order: Order, group: str | None, read_committed: bool) -> Consumer: ...

    def admin(self, order: Order) -> Answer: ...

    def error_code(self, error: Exception) -> int:
        """Kafka's code, where the library tells it."""


class Member:
    """One of a group, in a thread of its own."""

    def __init__(self, consumer: Consumer) -> None:
        self.values: list[str] = []
        self._consumer = consumer
        self._is_leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        self._is_leaving.set()
        self._thread.join()

    def _run(self) -> None:
        with closing(self._consumer) as consumer:
            while not self._is_leaving.is_set():
                records = consumer.poll(100)
                self.values += [each["value"] for each in records]
                if records:
                    consumer.commit()


def produce(library: Library, order: Order) -> Answer:
    with closing(library.producer(order)) as producer:
        return {"offsets": producer.send(order["topic"], order["records"])}


def consume(library: Library, order: Order) -> Answer:
    records: list[Record] = []
    consumer = library.consumer(order, None, order.get("read_committed", False))
    with closing(consumer):

        def poll() -> None:
            records.extend(consumer.poll(order["count"] - len(records)))

        until(lambda: len(records) == order["count"], poll)
    return {"records": records}


def share(library: Library, order: Order) -> Answer:
    """Produces value after value while three members come and the first of them goes.

    The next step is taken when the newest member has received its share.
    """
    members: list[Member] = []
    sent = 0
    with closing(library.producer(order)) as producer:

        def produce_one() -> None:
            nonlocal sent
            record = {"partition": sent % order["partitions"], "value": f"value {sent}"}
            producer.send(order["topic"], [record])
            sent += 1

        for _ in range(MEMBERS):
            members.append(Member(library.consumer(order, order["group"], False)))
            until(lambda: len(members[-1].values) >= SHARE_OF, produce_one)
        members[0].leave()
        for _ in range(SHARE_OF):
            produce_one()
    until(lambda: len({value for each in members for value in each.values}) == sent)
    for member in members[1:]:
        member.leave()
    return {"sent": sent, "members": [each.values for each in members]}


def copy(library: Library, order: Order) -> Answer:
    """Moves values from topic to topic, exactly once, though some transactions are aborted."""
    counts = {"committed": 0, "aborted": 0}
    copied = 0
    with (
        closing(library.producer(order, order["transactional_id"])) as producer,
        closing(library.consumer(order, order["group"], True)) as consumer,
    ):

        def transact() -> None:
            nonlocal copied
            records = consumer.poll(PER_TRANSACTION)
            if not records:
                return
            producer.begin()
            copies = [{"partition": 0, "value": f"copy of {each['value']}"} for each in records]
            producer.send(order["to"], copies)
            consumer.commit_in(producer)
            if (sum(counts.values()) + 1) % order["abort_every"] == 0:
                producer.abort()
                consumer.rewind()
                counts["aborted"] += 1
            else:
                producer.commit()
                counts["committed"] += 1
                copied += len(records)

        until(lambda: copied >= order["count"], transact)
    return counts


def until(done: Callable[[], bool], step: Callable[[], None] | None = None) -> None:
    deadline_s = time.monotonic() + ORDER_TIMEOUT_S
    while not done():
        if time.monotonic() > deadline_s:
            raise TimeoutError("the order took too long")
        if step is None:
            time.sleep(0.01)
        else:
            step()


def serve(library: Library) -> None:
    orders: dict[str, Callable[[Library, Order], Answer]] = {
        "produce": produce,
        "consume": consume,
        "share": share,
        "copy": copy,
        "admin": lambda library, order: library.admin(order),
    }
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = orders[order["do"]](library, order)
        except Exception as error:
            answer = {"failure": repr(error), "code": library.error_code(error)}
        print(json.dumps(answer), flush=True)


def record_of(each: Any) -> Record:
    """Of kafka-python's or aiokafka's, which are alike."""
    return {
        "partition": each.partition,
        "offset": each.offset,
        "key": text(each.key),
        "value": text(each.value),
        "headers": texts(each.headers),
        "timestamp": each.timestamp,
    }


def utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def texts(headers: Sequence[tuple[str, bytes]] | None) -> list[list[str]]:
    return [[name, value.decode()] for name, value in headers or ()]


def pairs(headers: Sequence[Sequence[str]]) -> list[tuple[str, bytes]]:
    return [(name, value.encode()) for name, value in headers]
