"""Every message that kio knows, in every version: the same bytes for the same values.

kio (PyPI) generates its classes from Kafka's schemas and shares no code with us.
"""

import datetime
import importlib
import io
import pkgutil
import uuid
from functools import cache
from typing import Any

import kio.schema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer

from snakka.protocol.api_keys import ApiKey
from snakka.protocol.codec import decode, encode
from snakka.protocol.schema import Message, Request, Response, Struct, fields
from snakka.protocol.types import ZERO_UUID, Number, Scalar
from tests.protocol.messages import Values, all_messages, versions

EXAMPLES = 10
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MILLISECOND = datetime.timedelta(milliseconds=1)


class KioValues(Values):
    """Values that kio takes: it drops unknown tags, knows all error codes, and has real dates."""

    has_unknown_tags = False

    def number(self, name: str, kind: Number) -> SearchStrategy[object]:
        if name.endswith("error_code"):
            return st.sampled_from([code.value for code in KioErrorCode])
        if kind.name == "int64":
            return st.integers(0, 1 << 41)
        return super().number(name, kind)


@cache
def kio_packages() -> dict[str, str]:
    """kio's packages by their names without underscores."""
    names = (each.name for each in pkgutil.iter_modules(kio.schema.__path__))
    return {name.replace("_", ""): name for name in names}


def find_kio_type(message: type[Message], version: int) -> Any:
    name, module = message.__name__, "data"
    if issubclass(message, Request | Response):
        module = message.__base__.__name__.lower() if message.__base__ else ""
        name = name.removesuffix(module.capitalize())
    elif name.endswith("Header"):
        module = "header"
    package = kio_packages().get(name.lower())
    if package is None:
        return None
    return getattr(
        importlib.import_module(f"kio.schema.{package}.v{version}.{module}"), message.__name__
    )


KNOWN_TO_KIO = [
    message for message in all_messages() if find_kio_type(message, message.VERSIONS.last)
]


def test_kio_knows_every_api() -> None:
    requests = [message for message in all_messages() if issubclass(message, Request)]
    assert set(requests) <= set(KNOWN_TO_KIO)
    assert len(requests) == len(ApiKey)


@pytest.mark.parametrize("message", KNOWN_TO_KIO, ids=lambda each: each.__name__)
def test_kio_reads_and_writes_the_same_bytes(message: type[Message], record_property: Any) -> None:
    for version in versions(message):
        _compare(message, version)
        record_property("compared", f"kio {message.__name__} {version}")


def _compare(message: type[Message], version: int) -> None:
    kio_type = find_kio_type(message, version)
    read, write = entity_reader(kio_type), entity_writer(kio_type)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(KioValues().message(message, version))
    def compare(value: Message) -> None:
        data = bytes(encode(value, version))
        understood, end = read(data, 0)
        assert end == len(data)
        assert_same(value, understood, version)
        out = io.BytesIO()
        write(out, understood)
        assert out.getvalue() == data
        assert decode(message, version, out.getvalue()) == value

    compare()


def assert_same(ours: Struct, theirs: Any, version: int) -> None:
    for each in fields(type(ours)):
        if version not in each.versions:
            continue
        # Times lose their unit in kio, and names of Python's own get an underscore.
        name = each.name.replace("kraft", "k_raft")
        names = (name, name.removesuffix("_ms"), f"{each.name}_")
        value = next(getattr(theirs, each) for each in names if hasattr(theirs, each))
        if value is None and each.type is Scalar.UUID:
            value = uuid.UUID(bytes=ZERO_UUID)
        _assert_same_value(getattr(ours, each.name), value, version)


def _assert_same_value(ours: Any, theirs: Any, version: int) -> None:
    match ours, theirs:
        case Struct(), _:
            assert_same(ours, theirs, version)
        case list(), tuple():
            for one, other in zip(ours, theirs, strict=True):
                _assert_same_value(one, other, version)
        case _, datetime.timedelta():
            assert ours == theirs / MILLISECOND
        case _, datetime.datetime():
            assert ours == (theirs - EPOCH) / MILLISECOND
        case _, uuid.UUID():
            assert ours == theirs.bytes
        case _:
            assert ours == (ZERO_UUID if theirs is None and ours == ZERO_UUID else theirs)
