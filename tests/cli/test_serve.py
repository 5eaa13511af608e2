"""`snakka serve` where it cannot: one line that says why, exit code 2, no traceback."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from snakka.cli.log_lines import JsonFormatter
from tests.compat.broker_process import BrokerProcess


def refused(*arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "snakka", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stderr


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("log.segment.byts=1", "did you mean log.segment.bytes"),
        ("log.segment.bytes=many", "log.segment.bytes=many"),
        ("nonsense", "key=value"),
        ("listeners=PLAINTEX://127.0.0.1:1,CONTROLLER://:0", "did you mean PLAINTEXT"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_near(  # pitfall 44
    tmp_path: Path, setting: str, complaint: str
) -> None:
    said = refused("serve", "--data", str(tmp_path / "data"), "--set", setting)
    assert complaint in said


@pytest.mark.parametrize(
    "settings",
    [
        ["listeners=PLAINTEXT://127.0.0.1:0,B://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
         "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,B:SSL,CONTROLLER:PLAINTEXT"],
    ],
)  # fmt: skip
def test_what_this_version_cannot_do_yet_is_refused(tmp_path: Path, settings: list[str]) -> None:
    flags = [word for each in settings for word in ("--set", each)]
    said = refused("serve", "--data", str(tmp_path / "data"), *flags)
    assert "this version" in said


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text("num.partitions=none\nlog.retention.hour=1\n")
    said = refused("serve", "--data", str(tmp_path / "data"), "--config", str(config))
    assert f"{config}:1: num.partitions=none" in said
    assert "did you mean log.retention.hours" in said


def test_unknown_options_are_refused() -> None:
    assert "No such option" in refused("serve", "--date", "x")


def test_a_port_and_a_directory_are_served_by_one_node(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker") as broker:
        said = refused("serve", "--data", str(tmp_path / "other"), "--listen", broker.bootstrap)
        assert "address already in use" in said
        data = str(tmp_path / "broker" / "data")
        said = refused("serve", "--data", data, "--listen", "127.0.0.1:0")
        assert f"{data} is in use by another process" in said


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"]])
def test_help_shows_an_example(arguments: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "snakka", *arguments], capture_output=True, text=True, check=True
    )
    assert "snakka serve" in ran.stdout
    assert "Example" in ran.stdout


def test_the_log_tells_programs_what_a_node_does(tmp_path: Path) -> None:
    flags = ["--log-level", "info", "--log-format", "json"]
    with BrokerProcess(tmp_path, flags=flags) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic("told", 1, 1)])["told"].result(20)
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce("told", b"v")
        assert producer.flush(20) == 0  # it is hosted, and not deleted before it ever was
        admin.delete_topics(["told"])["told"].result(20)
    lines = [line for line in broker.log.read_text().splitlines() if line.startswith("{")]
    told = [json.loads(line) for line in lines]
    assert {each["level"] for each in told} == {"info"}
    messages = [each["message"] for each in told]
    assert "epoch 1 of the metadata quorum is led by node 1" in messages
    assert f"told-0 is hosted in {tmp_path / 'data' / 'told-0'}" in messages
    assert "told-0 is deleted" in messages


def test_a_failure_in_the_log_has_its_traceback() -> None:
    try:
        raise OSError("the disk is gone")
    except OSError:
        record = logging.LogRecord(
            "snakka.storage", logging.ERROR, "", 0, "%s fails", ("a-0",), sys.exc_info()
        )
    line = json.loads(JsonFormatter().format(record))
    assert (line["level"], line["message"]) == ("error", "a-0 fails")
    assert line["exception"].endswith("OSError: the disk is gone")
