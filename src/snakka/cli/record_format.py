"""How `snakka consume` writes a record: kcat's format strings, or JSON. Pure.

Bytes go out as they are in a format string. In JSON they are text where they are UTF-8, and
otherwise an object `{"base64": ...}`.
"""

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from snakka.client.records import ConsumedRecord

_NULL: Final = b"NULL"
_ESCAPES: Final = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", "%": b"%"}

Write = Callable[[ConsumedRecord], bytes]

_FIELDS: Final[dict[str, Write]] = {
    "v": lambda record: _NULL if record.value is None else record.value,
    "s": lambda record: _NULL if record.value is None else record.value,
    "S": lambda record: b"%d" % _size(record.value),
    "k": lambda record: _NULL if record.key is None else record.key,
    "K": lambda record: b"%d" % _size(record.key),
    "t": lambda record: record.topic.encode(),
    "p": lambda record: b"%d" % record.partition,
    "o": lambda record: b"%d" % record.offset,
    "T": lambda record: b"%d" % record.timestamp_ms,
    "h": lambda record: b",".join(
        name.encode() + b"=" + (_NULL if value is None else value) for name, value in record.headers
    ),
}

HELP: Final = (
    "%v value, %k key, %t topic, %p partition, %o offset, %T timestamp in ms, %h headers,"
    " %S and %K sizes of value and key (-1: null), %% a percent sign; \\n, \\t, \\r, \\0 and \\xHH."
)


def compile_format(text: str) -> Write:
    """What writes a record by a format string; ValueError where it is none."""
    parts = list(_parts(text))

    def write(record: ConsumedRecord) -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(record) for part in parts)

    return write


def write_json(record: ConsumedRecord) -> bytes:
    """One line of JSON."""
    document = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "timestamp_type": record.timestamp_type.name,
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": [[name, _text(value)] for name, value in record.headers],
    }
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def _parts(text: str) -> list[bytes | Write]:
    parts: list[bytes | Write] = []
    signs = iter(text)
    for sign in signs:
        if sign == "%":
            letter = next(signs, "")
            if letter != "%" and letter not in _FIELDS:
                raise ValueError(f"%{letter} is not known in a format")
            parts.append(_FIELDS.get(letter, b"%"))
        elif sign == "\\":
            letter = next(signs, "")
            if letter == "x":
                parts.append(_hex(next(signs, "") + next(signs, "")))
            elif letter in _ESCAPES:
                parts.append(_ESCAPES[letter])
            else:
                raise ValueError(f"\\{letter} is not known in a format")
        else:
            parts.append(sign.encode())
    return parts


def _hex(digits: str) -> bytes:
    try:
        (byte,) = bytes.fromhex(digits)
    except ValueError:
        raise ValueError(f"\\x{digits} is not known in a format") from None
    return bytes([byte])


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _text(data: bytes | None) -> Any:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
