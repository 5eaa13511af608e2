"""Every message in every version against Kafka's own generated classes.

Java reads what we wrote, says as JSON what it understood, and writes it again. The JSON is ours,
and so are the bytes: which shows both directions of both sides.
"""

import base64
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from snakka.protocol.codec import decode, encode
from snakka.protocol.messages.header import RequestHeader
from snakka.protocol.schema import (
    ArrayType,
    Message,
    Request,
    Response,
    Struct,
    StructType,
    WireType,
    fields,
)
from snakka.protocol.types import Scalar
from tests.compat.java_oracle import JARS, JAVA_SOURCES, JavaProgram, classpath
from tests.protocol.messages import Values, all_messages, versions

EXAMPLES = 12


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "Messages.java") as program:
        yield program


@pytest.fixture(scope="module")
def class_names() -> dict[str, str]:
    """Kafka's generated classes by their simple names."""
    classpath()
    suffix = "JsonConverter.class"
    names = {}
    for jar in sorted(Path(JARS).glob("kafka-*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if entry.endswith(suffix) and "$" not in entry:
                    name = entry.removesuffix(suffix).replace("/", ".")
                    names[name.rpartition(".")[2]] = name
    return names


def java_name(message: type[Message]) -> str:
    has_suffix = issubclass(message, Request | Response) or message.__name__.endswith("Header")
    return message.__name__ + ("Data" if has_suffix else "")


@pytest.mark.parametrize("message", all_messages(), ids=lambda each: each.__name__)
def test_java_reads_and_writes_the_same_bytes(
    message: type[Message],
    java: JavaProgram,
    class_names: dict[str, str],
    record_property: Any,
) -> None:
    name = class_names[java_name(message)]
    for version in versions(message):
        _compare(java, name, message, version)
        record_property("compared", f"java {message.__name__} {version}")


def _compare(java: JavaProgram, name: str, message: type[Message], version: int) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(Values().message(message, version))
    def compare(value: Message) -> None:
        data = encode(value, version)
        assert decode(message, version, data) == value
        answer = java.ask(f"{name} {version} {data.hex()}")
        assert not answer.startswith("!"), (answer, value)
        understood, written, left = answer.split("\t")
        assert (written, left) == (data.hex(), "0")
        assert json.loads(understood) == as_json(value, version)

    compare()


def as_json(struct: Struct, version: int) -> dict[str, Any]:
    """What Kafka's JSON converters make of a value."""
    return {
        json_name(each.name): _json_value(each.type, getattr(struct, each.name), version)
        for each in fields(type(struct))
        if version in each.versions
        and (each.tag is None or getattr(struct, each.name) != each.default)
    }


def json_name(name: str) -> str:
    first, *rest = name.replace("kraft", "k_raft").split("_")
    return first + "".join(word.capitalize() for word in rest)


def _json_value(kind: WireType, value: Any, version: int) -> Any:
    if value is None:
        return None
    match kind:
        case ArrayType(element):
            return [_json_value(element, each, version) for each in value]
        case StructType():
            return as_json(value, version)
        case Scalar.UUID:
            return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
        case Scalar.RECORDS:
            return ""  # Java leaves them out; the bytes show them
        case Scalar.BYTES:
            return base64.b64encode(value).decode()
        case _:
            return value


def test_the_request_header_keeps_the_old_client_id_in_flexible_versions() -> None:
    header = RequestHeader(
        request_api_key=18, request_api_version=3, correlation_id=1, client_id="a"
    )
    assert encode(header, 2).hex() == "001200030000000100016100"
