"""A pure transaction coordinator, leaders of partitions, and producers that contend for names.

Everything that happens is drawn from a seed: commands, answers that are lost, coordinators that
fail between deciding, committing and completing, and ends and markers that come late or twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from snakka.coordinators.decision import Decision, NewRecord, WrittenRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.initializing import NeedsProducerIdError, Producer
from snakka.coordinators.transactions.machine import TransactionMachine
from snakka.coordinators.transactions.metadata import State, TransactionMetadata
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.transactions import TransactionLogKey, TransactionLogValue
from snakka.protocol.messages.end_txn import EndTxnRequest
from snakka.protocol.records.batch import BatchHeader
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from snakka.storage.errors import AppendError
from snakka.storage.producer_state import ProducerState

NAMES = ("one", "two")
PARTITIONS = tuple(TopicPartition("t", index) for index in range(3))
TIMEOUT_MS = 1_000
V2 = 2

Command: TypeAlias = Callable[[TransactionMachine, int | None], Decision[Any]]


@dataclass(eq=False)
class Attempt:
    """What one producer wrote as one transaction, and what has become of it where."""

    outcomes: set[bool] = field(default_factory=set)
    told: bool | None = None


@dataclass
class Leader:
    """A partition, with the producer state of a real log."""

    producers: ProducerState = field(default_factory=ProducerState)
    open: dict[int, Attempt] = field(default_factory=dict)

    def append(self, producer: Producer, attempt: Attempt) -> bool:
        entry = self.producers.find(producer.producer_id)
        is_same = entry is not None and entry.producer_epoch == producer.producer_epoch
        sequence = entry.last_sequence + 1 if entry is not None and is_same else 0
        header = BatchHeader.read(
            build_batch(
                [Record(self.producers.end_offset, 0, None, b"x")],
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                base_sequence=sequence,
                is_transactional=True,
            )
        )
        try:
            self.producers.check(header)
        except AppendError:
            return False
        self.producers.replay(header)
        # Two transactions under one marker would end alike.
        assert self.open.setdefault(producer.producer_id, attempt) is attempt
        return True

    def end(self, prepared: TransactionMetadata, coordinator_epoch: int) -> None:
        """A marker; one that is refused changes nothing."""
        is_committed = prepared.state is State.PREPARE_COMMIT
        kind = ControlType.COMMIT if is_committed else ControlType.ABORT
        marker = EndTxnMarker(kind, coordinator_epoch)
        header = BatchHeader.read(
            build_end_txn_batch(
                marker,
                base_offset=self.producers.end_offset,
                timestamp_ms=0,
                producer_id=prepared.producer_id,
                producer_epoch=prepared.producer_epoch,
            )
        )
        try:
            self.producers.check_marker(header, marker, prepared.client_version)
        except AppendError:
            return
        if self.producers.replay(header, marker) is not None:
            self.open.pop(prepared.producer_id).outcomes.add(is_committed)


@dataclass
class Sending:
    """Markers on their way."""

    prepared: TransactionMetadata
    coordinator_epoch: int
    left: list[TopicPartition]


@dataclass
class Client:
    """A producer; two of them share each name, and fence each other."""

    name: str
    producer: Producer | None = None
    attempt: Attempt | None = None


class World:
    """One seed's."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.version = self.rng.choice((1, V2))
        self.now_ms = 0
        self.log: list[NewRecord] = []
        self.coordinator_epoch = 0
        self.leaders = {each: Leader() for each in PARTITIONS}
        self.clients = [Client(name) for name in NAMES for _ in range(2)]
        self.attempts: list[Attempt] = []
        self.sending: list[Sending] = []
        self.late_ends: list[EndTxnRequest] = []
        self._completed: list[TransactionMetadata] = []
        self._ids = 0
        self._epochs: dict[int, int] = {}  # the latest of each producer id in the log
        self._load()

    def step(self) -> None:
        self.now_ms += self.rng.choice((0, 1, 10, 100))
        client = self.rng.choice(self.clients)
        actions: list[tuple[int, Callable[[], None]]] = [
            (2, lambda: self._init(client)),
            (8, lambda: self._write(client)),
            (4, lambda: self._end(client)),
            (8, self._send_one),
            (2, self._expire),
            (1, self._fail_over),
        ]
        if self.version >= V2 and self.late_ends:
            actions.append((2, self._send_late_end))
        weights, calls = zip(*actions, strict=True)
        self.rng.choices(calls, weights)[0]()

    def finish(self) -> None:
        """Nothing fails any more: everything that was begun ends."""
        self.rng.random = lambda: 1.0  # type: ignore[method-assign]
        for _ in range(3):
            self.now_ms += TIMEOUT_MS + 1
            while (due := self.machine.next_deadline_ms()) is not None and due <= self.now_ms:
                self._expire()
            while self.sending:
                self._send_one()

    def check(self) -> None:
        """After `finish`: every transaction has one outcome, the one that its producer was told."""
        for name in NAMES:
            found = self.machine.find(name)
            assert found is None or not (found.state.is_prepared or found.state is State.ONGOING)
        for leader in self.leaders.values():
            assert leader.open == {}
            leader.producers.on_high_watermark(leader.producers.end_offset)
            assert leader.producers.first_unstable_offset is None
        for attempt in self.attempts:
            assert len(attempt.outcomes) <= 1
            if attempt.told is not None and attempt.outcomes:
                assert attempt.outcomes == {attempt.told}

    def _load(self) -> None:
        settings = TransactionSettings(max_timeout_ms=TIMEOUT_MS, abort_retry_interval_ms=1)
        self.machine = TransactionMachine(settings, lambda: self.version)
        for offset, record in enumerate(self.log):
            self.machine.replay(WrittenRecord(record.key, record.value, offset, -1))
        self._perform(self.machine.on_loaded(self.now_ms))

    def _fail_over(self) -> None:
        """What is on its way to leaders is lost, or comes when it likes."""
        self.coordinator_epoch += 1
        self._completed.clear()
        self.sending = [each for each in self.sending if self.rng.random() < 0.5]
        self._load()

    def _perform(self, decision: Decision[Any]) -> None:
        for each in decision.effects:
            assert isinstance(each, TransactionMetadata)
            self.sending.append(Sending(each, self.coordinator_epoch, sorted(each.partitions)))

    def _execute(self, command: Command) -> Any:
        """The answer, the code of a refusal, or None where no answer came."""
        try:
            try:
                decision = command(self.machine, None)
            except NeedsProducerIdError:
                self._ids += 1
                decision = command(self.machine, self._ids)
        except CoordinatorError as error:
            return error.code
        if self.rng.random() < 0.03:
            self._fail_over()  # before anything of it was committed
            return None
        for record in decision.records:
            self._append(record)
        self._perform(decision)
        if self.rng.random() < 0.03:
            self._fail_over()
            return None
        return None if self.rng.random() < 0.05 else decision.response

    def _append(self, record: NewRecord) -> None:
        assert isinstance(record.key, TransactionLogKey)
        if isinstance(record.value, TransactionLogValue):
            producer_id, epoch = record.value.producer_id, record.value.producer_epoch
            assert epoch >= self._epochs.get(producer_id, -1)
            self._epochs[producer_id] = epoch
        self.log.append(record)
        self.machine.replay(WrittenRecord(record.key, record.value, len(self.log) - 1, -1))

    def _init(self, client: Client) -> None:
        expected = client.producer if self.rng.random() < 0.3 else None
        client.attempt = client.producer = None
        answer = self._execute(
            lambda machine, new_id: machine.init_producer(
                client.name, expected, TIMEOUT_MS, new_id, self.now_ms
            )
        )
        if isinstance(answer, TransactionMetadata):
            client.producer = Producer(answer.producer_id, answer.producer_epoch)

    def _write(self, client: Client) -> None:
        if client.producer is None:
            return
        producer, where = client.producer, self.rng.choice(PARTITIONS)
        answer = self._execute(
            lambda machine, _: machine.add_partitions(
                client.name, producer, {where}, self.version, self.now_ms
            )
        )
        if answer in (None, ErrorCode.CONCURRENT_TRANSACTIONS):
            return
        if client.attempt is None:
            client.attempt = Attempt()
            self.attempts.append(client.attempt)
        is_in = answer is ErrorCode.NONE and self._is_in_transaction(client.name, producer, where)
        if not is_in or not self.leaders[where].append(producer, client.attempt):
            client.attempt = client.producer = None  # fenced: it has to begin anew

    def _is_in_transaction(self, name: str, producer: Producer, where: TopicPartition) -> bool:
        """What the leader asks before it appends."""
        try:
            codes = self.machine.verify_partitions(name, producer, {where}).response
        except CoordinatorError:
            return False
        assert isinstance(codes, dict)
        return codes[where] is ErrorCode.NONE

    def _end(self, client: Client) -> None:
        if client.producer is None or client.attempt is None:
            return
        attempt, is_committed = client.attempt, self.rng.random() < 0.6
        request = EndTxnRequest(
            transactional_id=client.name,
            producer_id=client.producer.producer_id,
            producer_epoch=client.producer.producer_epoch,
            committed=is_committed,
        )
        self.late_ends.append(request)
        answer = self._execute(self._ending(request))
        client.attempt = None
        if isinstance(answer, Producer):
            attempt.told = is_committed
            client.producer = answer
        else:
            client.producer = None

    def _ending(self, request: EndTxnRequest) -> Command:
        return lambda machine, new_id: machine.end(request, self.version, new_id, self.now_ms)

    def _send_late_end(self) -> None:
        """A request that somebody sent long ago arrives, for the first time or once more."""
        self._execute(self._ending(self.rng.choice(self.late_ends)))

    def _send_one(self) -> None:
        if not self.sending:
            return
        sending = self.rng.choice(self.sending)
        if sending.left:
            where = self.rng.choice(sending.left)
            self.leaders[where].end(sending.prepared, sending.coordinator_epoch)
            if self.version < V2 or self.rng.random() > 0.1:  # else it is sent once more
                sending.left.remove(where)
        if not sending.left:
            self.sending.remove(sending)
            if sending.coordinator_epoch == self.coordinator_epoch:
                self._complete(sending.prepared)

    def _complete(self, prepared: TransactionMetadata) -> None:
        self._completed.append(prepared)
        completing = [prepared]
        if self.rng.random() < 0.2:
            completing.append(self.rng.choice(self._completed))  # said again, and late
        for each in completing:
            self._execute(self._completing(each))

    def _completing(self, prepared: TransactionMetadata) -> Command:
        return lambda machine, _: machine.complete(prepared, self.now_ms)

    def _expire(self) -> None:
        self._execute(lambda machine, _: machine.expire(self.now_ms))
