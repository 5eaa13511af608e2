"""Batches, their numbers and their order, under everything that an answer can do to them."""

from random import Random

import pytest

from snakka.client.batching import (
    IN_FLIGHT_MAX,
    Accumulator,
    BatchingSettings,
    DeliveryTimedOutError,
    Identity,
    ProducerBatch,
    Written,
)
from snakka.client.delivering import Fate, fate
from snakka.client.errors import kafka_error
from snakka.client.records import TopicPartition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.batch import batches
from snakka.protocol.records.compression import Compression

PARTITION = TopicPartition("topic", 0)
OTHER = TopicPartition("topic", 1)
SETTINGS = BatchingSettings(
    batch_size=200,
    linger_ms=5,
    delivery_timeout_ms=1000,
    compression=Compression.NONE,
    compression_level=None,
)
TOO_LARGE = kafka_error(ErrorCode.MESSAGE_TOO_LARGE)


def accumulator() -> Accumulator:
    made = Accumulator(SETTINGS)
    made.adopt(Identity(7, 0))
    return made


def append(
    to: Accumulator, value: bytes = b"x" * 150, now_ms: int = 0, at: TopicPartition = PARTITION
) -> ProducerBatch:
    return to.append(at, None, value, (), 0, now_ms)[0]


def ready(of: Accumulator, now_ms: int = 0, *, is_flushing: bool = False) -> list[TopicPartition]:
    return list(of.ready(now_ms, is_flushing=is_flushing))


def number(batch: ProducerBatch) -> tuple[int, int]:
    """The epoch and first sequence number of a batch."""
    assert batch.identity is not None
    return batch.identity.epoch, batch.base_sequence


def test_a_batch_is_due_when_it_is_full_or_old_or_asked_for() -> None:
    gathered = accumulator()
    append(gathered, b"small", now_ms=10)
    assert ready(gathered, 14) == []
    assert gathered.next_deadline_ms(14, is_flushing=False) == 15
    assert ready(gathered, 15) == [PARTITION]
    assert ready(gathered, 10, is_flushing=True) == [PARTITION]
    append(gathered, now_ms=10)
    assert ready(gathered, 10) == [PARTITION]


def test_records_that_fit_share_a_batch() -> None:
    gathered = accumulator()
    first = append(gathered, b"a")
    assert append(gathered, b"b") is first
    assert append(gathered, b"x" * 150) is not first
    assert append(gathered, b"c", at=OTHER) is not first
    batch = gathered.take(PARTITION)
    (encoded,) = batches(batch.encode(SETTINGS, is_transactional=False))
    encoded.verify_crc()
    assert [each.value for each in encoded.records()] == [b"a", b"b"]
    assert (encoded.header.producer_id, encoded.header.base_sequence) == (7, 0)


def test_numbers_go_on_from_batch_to_batch_and_go_around() -> None:
    gathered = accumulator()
    append(gathered, b"a")
    append(gathered, b"b")
    append(gathered)
    append(gathered)
    taken = [gathered.take(PARTITION) for _ in range(3)]
    assert [number(each) for each in taken] == [(0, 0), (0, 2), (0, 3)]


def test_numbers_go_on_as_long_as_the_identity_stays() -> None:
    """As it does between transactions of v1: a number used twice is a duplicate."""
    gathered = accumulator()
    for identity, expected in (((7, 0), (0, 0)), ((7, 0), (0, 1)), ((7, 1), (1, 0))):
        gathered.adopt(Identity(*identity))
        append(gathered)
        batch = gathered.take(PARTITION)
        assert number(batch) == expected
        gathered.finish(batch, Written(0, -1))


def test_no_more_are_under_way_than_a_broker_can_tell_duplicates_of() -> None:
    gathered = accumulator()
    for _ in range(IN_FLIGHT_MAX + 1):
        append(gathered)
    taken = []
    while ready(gathered, is_flushing=True):
        taken.append(gathered.take(PARTITION))
    assert len(taken) == IN_FLIGHT_MAX
    gathered.finish(taken[0], Written(0, -1))
    assert ready(gathered, is_flushing=True) == [PARTITION]


def test_batches_that_come_back_go_out_one_by_one_in_their_order() -> None:
    gathered = accumulator()
    for _ in range(4):
        append(gathered)
    first, second, third = (gathered.take(PARTITION) for _ in range(3))
    gathered.put_back(second, retry_at_ms=10)
    gathered.put_back(first, retry_at_ms=20)
    assert ready(gathered, 100) == []  # the third is under way
    gathered.put_back(third, retry_at_ms=10)
    assert ready(gathered, 19) == []
    for expected in (first, second, third):
        assert ready(gathered, 100) == [PARTITION]
        assert gathered.take(PARTITION) is expected
        assert ready(gathered, 100) == []
        gathered.finish(expected, Written(0, -1))
    assert number(gathered.take(PARTITION)) == (0, 3)


def test_after_one_is_given_up_the_partition_starts_over_in_the_next_epoch() -> None:
    gathered = accumulator()
    for _ in range(3):
        append(gathered)
    append(gathered, at=OTHER)
    first, second = gathered.take(PARTITION), gathered.take(PARTITION)
    gathered.finish(first, TOO_LARGE)
    assert first.outcome is TOO_LARGE
    assert ready(gathered, 100) == [OTHER]  # until it is known of the second, too
    gathered.put_back_unnumbered(second, retry_at_ms=0)
    assert gathered.take(PARTITION) is second
    assert number(second) == (1, 0)
    assert number(gathered.take(PARTITION)) == (1, 1)
    assert number(gathered.take(OTHER)) == (0, 0)


def test_what_may_have_been_written_is_asked_about_under_its_old_number_first() -> None:
    """Else what a lost answer was about would be written twice."""
    gathered = accumulator()
    for _ in range(3):
        append(gathered)
    first, second = gathered.take(PARTITION), gathered.take(PARTITION)
    gathered.put_back(second, retry_at_ms=0)  # its connection was lost
    gathered.finish(first, TOO_LARGE)
    assert gathered.take(PARTITION) is second
    assert number(second) == (0, 1)
    gathered.finish(second, Written(-1, -1))
    assert number(gathered.take(PARTITION)) == (1, 0)


def test_what_waits_too_long_is_given_up() -> None:
    gathered = accumulator()
    old, young = append(gathered, now_ms=0), append(gathered, now_ms=500)
    gathered.expire(999)
    assert gathered.first(PARTITION) is old
    gathered.expire(1000)
    assert isinstance(old.outcome, DeliveryTimedOutError)
    assert young.outcome is None
    assert number(gathered.take(PARTITION)) == (0, 0)  # it never had a number


def test_the_memory_of_a_batch_is_free_once_it_has_an_outcome() -> None:
    gathered = accumulator()
    append(gathered)
    assert gathered.size_bytes > 150
    gathered.finish(gathered.take(PARTITION), Written(0, -1))
    assert gathered.size_bytes == 0
    assert gathered.is_empty


class Broker:
    """What a broker does with numbers: refuses gaps, knows duplicates. Answers may get lost."""

    def __init__(self, rng: Random, too_large: list[bytes]) -> None:
        self.rng = rng
        self.too_large = too_large
        self.written: list[bytes] = []
        self.epoch, self.next = 0, 0
        self.recent: list[tuple[int, int]] = []

    def serve(self, batch: ProducerBatch) -> ErrorCode:
        luck = self.rng.random()
        if luck < 0.15:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if batch.records[0].value in self.too_large:
            return ErrorCode.MESSAGE_TOO_LARGE
        code = self._append(batch)
        return ErrorCode.NETWORK_EXCEPTION if luck > 0.8 else code

    def _append(self, batch: ProducerBatch) -> ErrorCode:
        place = number(batch)
        if place in self.recent[-IN_FLIGHT_MAX:]:
            return ErrorCode.DUPLICATE_SEQUENCE_NUMBER
        if place[0] > self.epoch and place[1] == 0:
            self.epoch, self.next, self.recent = place[0], 0, []
        if place != (self.epoch, self.next):
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        self.next += len(batch.records)
        self.recent.append(place)
        self.written += [each.value or b"" for each in batch.records]
        return ErrorCode.NONE


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_records_are_written_once_and_in_order(seed: int) -> None:
    rng = Random(seed)
    values = [b"%03d" % index + b"." * rng.choice([0, 150]) for index in range(120)]
    gathered, broker = accumulator(), Broker(rng, rng.sample(values, 8))
    fates: list[tuple[ProducerBatch, list[bytes]]] = []
    in_flight: list[ProducerBatch] = []
    unsent = list(values)
    for now_ms in range(10_000):
        for _ in range(rng.randint(0, 3)):
            if unsent:
                append(gathered, unsent.pop(0))
        while ready(gathered, now_ms, is_flushing=True):
            batch = gathered.take(PARTITION)
            in_flight.append(batch)
            if not batch.attempts:
                fates.append((batch, [each.value or b"" for each in batch.records]))
        if in_flight and rng.random() < 0.6:
            batch = in_flight.pop(0)
            code = broker.serve(batch)
            has_earlier = gathered.has_earlier(batch)
            match fate(code, has_earlier=has_earlier, is_transactional=False):
                case Fate.WRITTEN:
                    gathered.finish(batch, Written(0, -1))
                case Fate.RETRY:
                    gathered.put_back(batch, now_ms)
                case Fate.RENUMBER:
                    gathered.put_back_unnumbered(batch, now_ms)
                case Fate.GIVE_UP:
                    gathered.finish(batch, kafka_error(code))
        if not unsent and gathered.is_empty:
            break
    assert gathered.is_empty
    promised = [value for batch, held in fates if isinstance(batch.outcome, Written)
                for value in held]  # fmt: skip
    assert broker.written == promised, f"seed {seed}"


@pytest.mark.parametrize(
    ("code", "has_earlier", "is_transactional", "expected"),
    [
        (ErrorCode.NONE, False, False, Fate.WRITTEN),
        (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, False, False, Fate.WRITTEN),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, False, True, Fate.RETRY),
        (ErrorCode.NETWORK_EXCEPTION, False, False, Fate.RETRY),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, True, True, Fate.RETRY),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, False, False, Fate.RENUMBER),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, False, True, Fate.GIVE_UP),
        (ErrorCode.UNKNOWN_PRODUCER_ID, False, False, Fate.RENUMBER),
        (ErrorCode.MESSAGE_TOO_LARGE, False, False, Fate.GIVE_UP),
        (ErrorCode.PRODUCER_FENCED, True, False, Fate.GIVE_UP),
    ],
)
def test_what_becomes_of_a_batch(
    code: ErrorCode, has_earlier: bool, is_transactional: bool, expected: Fate
) -> None:
    assert fate(code, has_earlier=has_earlier, is_transactional=is_transactional) is expected
