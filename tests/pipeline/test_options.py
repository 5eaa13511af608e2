"""What a user may ask of the source, and how it is told what is wrong."""

import pytest

from snakka.client.records import TopicPartition
from snakka.pipeline.errors import OptionError
from snakka.pipeline.offsets import At, Position
from snakka.pipeline.options import (
    SourceOptions,
    check_batch,
    check_stream,
    read_source_options,
)

MINIMAL = {"bootstrap.servers": "localhost:9092", "subscribe": "orders"}


def read(**more: str) -> SourceOptions:
    return read_source_options({**MINIMAL, **{k.replace("__", "."): v for k, v in more.items()}})


def test_what_is_not_said_has_a_default() -> None:
    options = read()
    assert options.subscription.topics == ("orders",)
    assert options.is_read_committed
    assert options.include_headers
    assert options.fail_on_data_loss
    assert options.max_rows_per_trigger is None
    assert options.group_id is None


def test_names_are_read_in_any_case_and_with_the_prefix_of_the_other_connector() -> None:
    options = read_source_options(
        {
            "KAFKA.Bootstrap.Servers": "a:1,b:2",
            "subscribepattern": "orders-.*",
            "kafka.request.timeout.ms": "5000",
            "kafka.client.id": "shop",
            "MaxOffsetsPerTrigger": "10",
        }
    )
    assert options.bootstrap_servers == "a:1,b:2"
    assert options.subscription.pattern is not None
    assert options.subscription.pattern.fullmatch("orders-eu")
    assert options.client_settings.request_timeout_ms == 5000
    assert options.client_settings.client_id == "shop"
    assert options.max_rows_per_trigger == 10


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"startingOffset": "earliest"}, "no option startingOffset; did you mean startingOffsets"),
        ({"kafka.reqest.timeout.ms": "1"}, "did you mean request.timeout.ms"),
        ({"assign": '{"orders":[0]}'}, "has to be given, not subscribe and assign"),
        ({"startingOffsets": "soonest"}, "option startingOffsets: 'soonest' is none of earliest"),
        ({"startingOffsets": '{"orders":{"x":1}}'}, 'has "x" where a whole number belongs'),
        ({"startingOffsets": '{"orders":{"0":-3}}'}, "has -3, which is not within -2 to"),
        ({"startingOffsets": '{"orders"'}, "is not JSON"),
        ({"startingTimestamp": "noon"}, "option startingTimestamp: 'noon' is not a whole number"),
        ({"failOnDataLoss": "maybe"}, "option failOnDataLoss: 'maybe' is neither true nor false"),
        ({"maxBytesPerTrigger": "64 mega"}, "is not a size such as"),
        ({"maxTriggerDelay": "15"}, "is not a duration such as"),
        ({"isolation.level": "read_comitted"}, "did you mean read_committed"),
        ({"minPartitions": "0"}, "is not a whole number above zero"),
        ({"bootstrap.servers": " "}, "option bootstrap.servers: is required"),
        ({"kafka.group.id": "a", "group.id": "b"}, "option group.id: is given twice"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_wrong(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_source_options({**MINIMAL, **given})


def test_without_a_subscription_there_is_nothing_to_read() -> None:
    with pytest.raises(
        OptionError, match="subscribe, subscribePattern, assign has to be given, no"
    ):
        read_source_options({"bootstrap.servers": "a:1"})


def test_positions_in_every_form() -> None:
    orders = TopicPartition("orders", 0)
    assert read(startingOffsets="EARLIEST").starting == Position(At(-2))
    assert read(startingOffsets='{"orders":{"0":5}}').starting == Position(named={orders: At(5)})
    assert read(startingTimestamp="9").starting == Position(At(timestamp_ms=9))
    by_timestamp = read(startingOffsetsByTimestamp='{"orders":{"0":"7"}}').starting
    assert by_timestamp == Position(named={orders: At(timestamp_ms=7)})


def test_the_timestamp_for_all_wins_over_the_other_forms_as_in_sparks_own_source() -> None:
    options = read(startingOffsets="earliest", startingTimestamp="9")
    assert options.starting == Position(At(timestamp_ms=9))


def test_a_position_names_just_the_partitions_that_are_read() -> None:
    position = Position(named={TopicPartition("a", 0): At(1), TopicPartition("a", 2): At(1)})
    with pytest.raises(ValueError, match="a-1 are missing"):
        position.of([TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("a", 2)])
    with pytest.raises(ValueError, match="a-2 are not read"):
        position.of([TopicPartition("a", 0)])


def test_where_batches_and_streams_start_by_default() -> None:
    assert check_batch(read()) == Position(At(-2))
    assert check_stream(read()) == Position(At(-1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"startingOffsets": "latest"}, "cannot start at the latest"),
        ({"endingOffsets": "earliest"}, "cannot end at the earliest"),
        ({"endingOffsets": '{"orders":{"0":-2}}'}, "cannot end at the earliest"),
    ],
)
def test_a_batch_has_a_beginning_and_an_end(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        check_batch(read(**given))


def test_a_stream_has_no_end() -> None:
    with pytest.raises(OptionError, match="a streaming query has no end"):
        check_stream(read(endingOffsets='{"orders":{"0":9}}'))


def test_the_group_of_a_prefix_is_the_same_after_a_restart() -> None:
    assert read(groupIdPrefix="etl").group_id == "etl-orders"
    assert read(groupIdPrefix="etl", group__id="mine").group_id == "mine"
