"""Values in force: layers, listeners, units."""

from tests.config.making import loaded


def test_dynamic_settings_count_more_than_static_ones() -> None:
    static = loaded({"message.max.bytes": "1"})
    for_all = static.with_dynamic({"message.max.bytes": "2"}, {})
    for_one = static.with_dynamic({"message.max.bytes": "2"}, {"message.max.bytes": "3"})
    values = [each.get_int("message.max.bytes") for each in (static, for_all, for_one)]
    assert values == [1, 2, 3]


def test_a_listener_may_have_values_of_its_own() -> None:
    config = loaded(
        {
            "max.connections": "10",
            "listener.name.plaintext.max.connections": "5",
            "listener.name.plaintext.scram-sha-256.sasl.jaas.config": "x",
        }
    )
    assert config.get_int("max.connections") == 10
    assert config.for_listener("PLAINTEXT").get_int("max.connections") == 5
    assert config.for_listener("CONTROLLER").get_int("max.connections") == 10
    assert config.for_listener("PLAINTEXT").find_text("sasl.jaas.config") is None
    login = config.for_listener("PLAINTEXT", "SCRAM-SHA-256")
    assert login.get_text("sasl.jaas.config") == "x"


def test_times_in_several_units() -> None:
    assert loaded().get_ms("log.retention.ms") == 168 * 3_600_000
    assert loaded({"log.retention.minutes": "2"}).get_ms("log.retention.ms") == 120_000
    both = loaded({"log.retention.minutes": "2", "log.retention.ms": "7"})
    assert both.get_ms("log.retention.ms") == 7
    assert loaded({"log.retention.hours": "-1"}).get_ms("log.retention.ms") == -1
    assert loaded().get_ms("log.flush.interval.ms") == 2**63 - 1


def test_the_number_of_the_node_has_two_names() -> None:
    assert loaded({"broker.id": "1"}).node_id == 1
    assert loaded().get_int("broker.id") == 1


def test_directories_of_logs() -> None:
    assert loaded().log_directories == ("/tmp/kafka-logs",)
    assert loaded({"log.dir": "/a"}).log_directories == ("/a",)
    assert loaded({"log.dir": "/a", "log.dirs": "/b,/c"}).log_directories == ("/b", "/c")
