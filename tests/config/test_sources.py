"""Settings from files, environment and flags, each with where it stands."""

from pathlib import Path

import pytest

from snakka.config.problems import ConfigurationError
from snakka.config.sources import (
    Setting,
    from_environment,
    from_flags,
    from_toml,
    read_file,
)


def test_a_properties_file_names_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("# mine\nnode.id=1\n")
    assert read_file(path) == [Setting("node.id", "1", f"{path}:2")]


def test_toml_tables_may_be_nested_or_not() -> None:
    text = """
    "max.connections" = 10
    listeners = ["PLAINTEXT://:1", "B://:2"]
    [log]
    retention.hours = 24
    cleaner.enable = true
    [log.flush.interval]
    messages = 1
    """
    assert [(each.name, each.text) for each in from_toml(text, "t")] == [
        ("max.connections", "10"),
        ("listeners", "PLAINTEXT://:1,B://:2"),
        ("log.retention.hours", "24"),
        ("log.cleaner.enable", "true"),
        ("log.flush.interval.messages", "1"),
    ]


def test_toml_that_sets_a_name_and_one_that_it_begins_says_to_quote() -> None:
    with pytest.raises(ConfigurationError, match=r'"max[.]connections[.]per[.]ip"'):
        list(from_toml("max.connections = 1\nmax.connections.per.ip = 2", "s.toml"))


def test_variables_of_the_environment() -> None:
    environment = {
        "SNAKKA_LOG_RETENTION_MS": "1",
        "SNAKKA_LISTENER_NAME_IN_SCRAM___SHA___256_SASL_JAAS_CONFIG": "x",
        "SNAKKA_RSM_CONFIG_A__B": "y",
        "HOME": "/",
    }
    assert {each.name: each.source for each in from_environment(environment)} == {
        "log.retention.ms": "SNAKKA_LOG_RETENTION_MS",
        "listener.name.in.scram-sha-256.sasl.jaas.config": (
            "SNAKKA_LISTENER_NAME_IN_SCRAM___SHA___256_SASL_JAAS_CONFIG"
        ),
        "rsm.config.a_b": "SNAKKA_RSM_CONFIG_A__B",
    }


def test_flags() -> None:
    assert list(from_flags(["a=b=c"])) == [Setting("a", "b=c", "--set")]
    with pytest.raises(ConfigurationError) as raised:
        list(from_flags(["a", "b=1", "c"]))
    assert str(raised.value) == "--set: a: it must be key=value\n--set: c: it must be key=value"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.properties", b"\xff", "not UTF-8"),
        ("a.properties", b"a=\\u1", "hexadecimal"),
        ("a.toml", b"a = \n", "line 1"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=reason) as raised:
        read_file(path)
    assert str(path) in str(raised.value)


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none[.]toml: No such file"):
        read_file(tmp_path / "none.toml")
