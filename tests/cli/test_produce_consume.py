"""`snakka produce` and `snakka consume`, which read what the other wrote."""

import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from snakka.testing import ApiKey, Broker, ErrorCode
from tests.cli.running import Cli


def test_lines_become_records_and_lines_again(cli: Cli) -> None:
    assert (
        cli.said("produce", "lines", stdin="one\ntwo\r\n\nfour") == "4 records written to lines\n"
    )
    assert cli("consume", "lines", "-o", "start", "-e") == "one\ntwo\n\nfour\n"


def test_keys_headers_nulls_and_partitions(cli: Cli) -> None:
    cli("topics", "create", "rich", "-p", "3")
    words = ["-k", ":", "-H", "a=b", "-H", "c=", "-p", "2", "--null", "-q"]
    assert cli.said("produce", "rich", *words, stdin="k:v:w\ndeleted:\nplain\n") == ""
    lines = cli("consume", "rich:2", "-o", "start", "-e", "--json").splitlines()
    records = [json.loads(each) for each in lines]
    assert [(each["key"], each["value"]) for each in records] == [
        ("k", "v:w"),
        ("deleted", None),
        (None, "plain"),
    ]
    assert records[0]["headers"] == [["a", "b"], ["c", ""]]
    assert (records[1]["partition"], records[1]["offset"]) == (2, 1)
    cli("produce", "rich", "--key", "same", stdin="x\n")
    assert cli("consume", "rich", "-o", "-1", "-e", "-f", "%k").endswith("same")


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_codecs_and_acks(cli: Cli, codec: str, acks: str) -> None:
    topic = f"{codec}-{acks}"
    cli("produce", topic, stdin="v\n")  # a leader that is not there yet takes nothing without acks
    cli("produce", topic, "-z", codec, "-a", acks, stdin="v\n" * 50)
    assert cli("consume", topic, "-o", "start", "-e") == "v\n" * 51


def test_a_file_is_read(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "lines"
    source.write_bytes(b"\xff\xfe\n" * 3)
    cli("produce", "file", str(source))
    (line, *_) = cli("consume", "file", "-o", "start", "-e", "--json").splitlines()
    assert json.loads(line)["value"] == {"base64": "//4="}


@pytest.mark.parametrize(
    ("start", "values"),
    [
        ("start", range(10)),
        ("3", range(3, 10)),
        ("-2", range(8, 10)),
        ("-99", range(10)),
        ("end", []),
        ("99", []),
        ("@0", range(10)),
        ("@2999-01-01", []),
    ],
)
def test_where_to_begin(cli: Cli, start: str, values: range) -> None:
    cli("topics", "create", "begun", "--if-not-exists")
    if not cli("consume", "begun", "-o", "start", "-e"):
        cli("produce", "begun", stdin="".join(f"{index}\n" for index in range(10)))
    assert cli("consume", "begun", "-o", start, "-e").split() == [str(each) for each in values]


def test_a_group_goes_on(cli: Cli) -> None:
    cli("produce", "grouped", stdin="a\nb\nc\n")
    words = ["consume", "grouped", "-g", "readers", "-o", "start"]
    assert cli(*words, "-n", "2") == "a\nb\n"
    assert cli(*words, "-e") == "c\n"
    assert cli(*words, "-e") == ""


def test_an_end_behind_a_marker_is_reached(cli: Cli, broker: Broker) -> None:
    """The last offset of a transaction is its marker's, which no reader is given."""
    from confluent_kafka import Producer

    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "t", "log_level": 0}
    )
    producer.init_transactions(20)
    for is_committed in (True, False):
        producer.begin_transaction()
        producer.produce("marked", b"committed" if is_committed else b"aborted")
        producer.flush(20)
        (producer.commit_transaction if is_committed else producer.abort_transaction)(20)
    assert cli("consume", "marked", "-o", "start", "-e") == "committed\naborted\n"
    assert cli("consume", "marked", "-o", "start", "-e", "--committed") == "committed\n"
    words = ["consume", "marked", "-g", "marked", "-o", "start", "-e", "--committed"]
    assert cli(*words) == "committed\n"


def test_what_is_refused(cli: Cli, broker: Broker) -> None:
    assert cli.refused("consume", "gone", "-e").startswith("snakka: gone: UNKNOWN_TOPIC")
    cli("topics", "create", "small", "-c", "max.message.bytes=100")
    assert "gone:7" in cli.refused("consume", "gone:7")
    line = cli.refused("produce", "small", stdin="x" * 1000)
    assert "after 0 records: MESSAGE_TOO_LARGE" in line
    broker.faults.answer(ApiKey.PRODUCE, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert "TOPIC_AUTHORIZATION_FAILED" in cli.refused("produce", "small", stdin="x")
    assert "small has no partition 5" in cli.refused("produce", "small", "-p", "5", stdin="x")


def test_ctrl_c_and_a_closed_pipe_are_quiet(cli: Cli, broker: Broker) -> None:
    cli("produce", "endless", stdin="line\n" * 30_000)
    command = [sys.executable, "-m", "snakka", "consume", "endless", "-o", "start"]
    command += ["-b", broker.bootstrap_servers]
    for ending, unbuffered in product(("ctrl-c", "pipe"), ("", "1")):
        with subprocess.Popen(
            command,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == b"line\n"
            if ending == "ctrl-c":
                process.send_signal(signal.SIGINT)
                process.stdout.read()
                assert process.wait(20) == 130
            else:
                process.stdout.close()
                assert process.wait(20) == 1
            assert process.stderr.read() == b""
