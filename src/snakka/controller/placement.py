"""Where the replicas of new partitions go.

Striped, as Kafka does it: partitions take turns at racks, and within a rack at brokers, so that
every broker leads about as many as the next; the replicas of one partition are on as many racks
as there are. A fenced broker gets a replica only where a rack has nobody else left, and never the
first one. Racks and brokers start at random, and are shuffled after each full turn.
"""

from collections.abc import Iterable, Iterator
from random import Random

from snakka.controller.decision import RefusedError
from snakka.metadata.brokers import Broker
from snakka.protocol.error_codes import ErrorCode


class _Ring:
    """Brokers in turn: each partition starts one further than the last one that came here."""

    def __init__(self, brokers: Iterable[int], random: Random) -> None:
        self._brokers = sorted(brokers)
        self._start = random.randrange(len(self._brokers)) if self._brokers else 0
        self._turn = 0
        self._taken = 0

    def take(self, turn: int) -> int | None:
        if not self._brokers:
            return None
        if turn != self._turn:
            self._turn = turn
            self._taken = 0
            self._start = (self._start + 1) % len(self._brokers)
        if self._taken == len(self._brokers):
            return None
        broker = self._brokers[(self._start + self._taken) % len(self._brokers)]
        self._taken += 1
        return broker

    def shuffle(self, random: Random) -> None:
        random.shuffle(self._brokers)


class _Rack:
    def __init__(self, brokers: list[Broker], random: Random) -> None:
        self.unfenced = _Ring((each.broker_id for each in brokers if not each.fenced), random)
        self.fenced = _Ring((each.broker_id for each in brokers if each.fenced), random)

    def take(self, turn: int) -> int | None:
        unfenced = self.unfenced.take(turn)
        return self.fenced.take(turn) if unfenced is None else unfenced


class ReplicaPlacer:
    """Draws the replicas of one new partition after another."""

    def __init__(self, brokers: Iterable[Broker], random: Random) -> None:
        usable = [each for each in brokers if _is_usable(each)]
        racks: dict[str | None, list[Broker]] = {}
        for broker in usable:
            racks.setdefault(broker.rack, []).append(broker)
        names = sorted(racks, key=lambda rack: (rack is not None, rack or ""))
        self._racks = [_Rack(racks[name], random) for name in names]
        self._random = random
        self._start = random.randrange(len(self._racks)) if self._racks else 0
        self._turn = 0
        self._broker_count = len(usable)
        self._unfenced_count = sum(not each.fenced for each in usable)

    def place(self, replication_factor: int) -> list[int]:
        self._check(replication_factor)
        if self._turn == self._unfenced_count and self._unfenced_count > 1:
            self._shuffle()
        first_rack, leader = self._first(self._start)
        replicas = [leader, *self._others(first_rack, replication_factor - 1)]
        self._turn += 1
        self._start = (self._start + 1) % len(self._racks)
        return replicas

    def _first(self, start: int) -> tuple[int, int]:
        for step in range(len(self._racks)):
            rack = (start + step) % len(self._racks)
            broker = self._racks[rack].unfenced.take(self._turn)
            if broker is not None:
                return rack, broker
        raise AssertionError("some broker is not fenced")

    def _others(self, first_rack: int, count: int) -> Iterator[int]:
        """Round the racks, past the one that the first replica is on the first time round."""
        rack = self._start
        is_to_pass: int | None = first_rack
        while count:
            if rack == is_to_pass:
                is_to_pass = None
            else:
                broker = self._racks[rack].take(self._turn)
                if broker is not None:
                    yield broker
                    count -= 1
            rack = (rack + 1) % len(self._racks)

    def _shuffle(self) -> None:
        self._turn = 0
        self._random.shuffle(self._racks)
        for rack in self._racks:
            rack.unfenced.shuffle(self._random)
            rack.fenced.shuffle(self._random)

    def _check(self, replication_factor: int) -> None:
        code = ErrorCode.INVALID_REPLICATION_FACTOR
        if replication_factor <= 0:
            raise RefusedError(
                code,
                f"Invalid replication factor {replication_factor}: the replication factor must be"
                " positive.",
            )
        if not self._unfenced_count:
            raise RefusedError(code, "All brokers are currently fenced.")
        if replication_factor > self._broker_count:
            raise RefusedError(
                code,
                f"The target replication factor of {replication_factor} cannot be reached because"
                f" only {self._broker_count} broker(s) are registered or some brokers have all"
                " their log directories cordoned.",
            )


def _is_usable(broker: Broker) -> bool:
    if broker.in_controlled_shutdown and not broker.fenced:
        return False
    return not broker.log_dirs or not set(broker.log_dirs) <= set(broker.cordoned_log_dirs or ())
