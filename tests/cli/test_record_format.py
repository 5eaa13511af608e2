"""Format strings as kcat's, and JSON."""

import json

import pytest

from snakka.cli.record_format import compile_format, write_json
from snakka.client.records import ConsumedRecord
from snakka.protocol.records.batch import TimestampType

RECORD = ConsumedRecord(
    topic="orders",
    partition=3,
    offset=42,
    timestamp_ms=1234,
    timestamp_type=TimestampType.CREATE_TIME,
    key=b"key",
    value=b"\xffvalue",
    headers=(("a", b"b"), ("none", None)),
    leader_epoch=0,
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("%v", b"\xffvalue"),
        ("%s", b"\xffvalue"),
        (r"%k\t%t\n", b"key\torders\n"),
        ("%p:%o@%T", b"3:42@1234"),
        ("%K %S", b"3 6"),
        ("%h", b"a=b,none=NULL"),
        (r"100%%\x00\0\\\r", b"100%\0\0\\\r"),
        ("è", "è".encode()),
        ("", b""),
    ],
)
def test_a_format(text: str, written: bytes) -> None:
    assert compile_format(text)(RECORD) == written


def test_nothing_is_told_from_empty() -> None:
    write = compile_format("%k %K %v %S")
    assert write(RECORD._replace(key=None, value=None)) == b"NULL -1 NULL -1"
    assert write(RECORD._replace(key=b"", value=b"")) == b" 0  0"


@pytest.mark.parametrize("text", ["%", "%z", "\\", "\\q", "\\x1", "\\xzz"])
def test_what_is_no_format(text: str) -> None:
    with pytest.raises(ValueError, match="is not known in a format"):
        compile_format(text)


def test_json_holds_any_bytes() -> None:
    line = write_json(RECORD)
    assert line.endswith(b"}\n")
    assert json.loads(line) == {
        "topic": "orders",
        "partition": 3,
        "offset": 42,
        "timestamp_ms": 1234,
        "timestamp_type": "CREATE_TIME",
        "key": "key",
        "value": {"base64": "/3ZhbHVl"},
        "headers": [["a", "b"], ["none", None]],
    }
