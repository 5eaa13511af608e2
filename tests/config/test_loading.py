"""What is wrong with a configuration is said all at once, with source, key, value and a hint."""

import pytest

from snakka.config.loading import load_broker_config
from snakka.config.problems import ConfigurationError
from snakka.config.sources import Setting
from tests.config.making import loaded, problems_of


def test_all_problems_are_said_together() -> None:
    assert problems_of(
        {
            "num.partitons": "3",
            "compression.type": "gzp",
            "num.partitions": "0",
            "zookeeper.connect": "localhost",
            "replica.lag.time.max.ms": "100",
        }
    ) == [
        "test: num.partitons: unknown key; did you mean num.partitions?",
        "test: compression.type=gzp: it must be one of uncompressed, zstd, lz4, snappy, gzip, "
        "producer; did you mean gzip?",
        "test: num.partitions=0: it must be at least 1",
        "test: zookeeper.connect: Kafka 4 has no such key any more; remove it",
        "test: replica.lag.time.max.ms=100: replica.fetch.wait.max.ms must be at most "
        "replica.lag.time.max.ms (100)",
    ]


def test_a_later_source_overrides_an_earlier_one() -> None:
    config = load_broker_config(
        [*(Setting(*each) for each in _STANDALONE), Setting("num.partitions", "5", "--set")]
    )
    assert config.get_int("num.partitions") == 5


_STANDALONE = (
    ("node.id", "7", "file"),
    ("process.roles", "broker,controller", "file"),
    ("listeners", "PLAINTEXT://h:9092,CONTROLLER://h:9093", "file"),
    ("controller.listener.names", "CONTROLLER", "file"),
    ("controller.quorum.voters", "7@h:9093", "file"),
    ("num.partitions", "wrong, but overridden", "file"),
)


def test_what_must_be_given_is_said() -> None:
    with pytest.raises(ConfigurationError) as raised:
        load_broker_config([])
    named = [problem.name for problem in raised.value.problems]
    assert named == ["node.id", "process.roles", "controller.listener.names"]


def test_passwords_are_never_shown() -> None:
    found = problems_of(
        {
            "listener.name.nowhere.ssl.key.password": "hush",
            "ssl.keystore.pasword": "hush",
            "sasl.enabled.mechanisms": "A,,B",
        }
    )
    assert len(found) == 3
    assert "hush" not in "".join(found)


def test_settings_of_plugins_are_nobodys_business() -> None:
    config = loaded({"rsm.config.bucket": "b", "remote.log.metadata.manager.impl.prefix": "m."})
    assert config.with_prefix("rsm.config.") == {"bucket": "b"}
    assert problems_of({"rlmm.config.a": "1", "remote.log.metadata.manager.impl.prefix": "m."})


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("listener.name.plaintext.num.partitions", "this cannot be set for one listener"),
        (
            "listener.name.plaintext.ssl.key.pasword",
            "unknown key; did you mean listener.name.plaintext.ssl.key.password?",
        ),
        ("listener.name.plaintxt.max.connections", "no listener is 'plaintxt'; did you mean"),
    ],
)
def test_keys_of_one_listener(name: str, reason: str) -> None:
    (problem,) = problems_of({name: "1"})
    assert reason in problem


def test_keys_without_use_are_accepted() -> None:
    assert loaded({"num.network.threads": "8"}).get_int("num.network.threads") == 8
