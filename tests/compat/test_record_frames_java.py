"""Records of internal topics, frame included, against the serdes of Kafka's own broker."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snakka.protocol.internal.frames import (
    GROUP_RECORDS,
    METADATA_RECORDS,
    REMOTE_LOG_RECORDS,
    SHARE_STATE_RECORDS,
    TRANSACTION_RECORDS,
    CoordinatorType,
    read_coordinator_record,
    read_typed,
    write_key,
    write_typed,
    write_versioned,
)
from snakka.protocol.internal.kinds import MetadataRecord, RemoteLogRecord
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram
from tests.protocol.messages import Values, versions

few = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

COORDINATORS = [
    ("groups", GROUP_RECORDS),
    ("transactions", TRANSACTION_RECORDS),
    ("shares", SHARE_STATE_RECORDS),
]


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "RecordFrames.java") as program:
        yield program


@pytest.mark.parametrize(
    ("topic", "types"), [("metadata", METADATA_RECORDS), ("remote", REMOTE_LOG_RECORDS)]
)
@few
@given(data=st.data())
def test_typed_records(
    java: JavaProgram,
    topic: str,
    types: Mapping[int, type[MetadataRecord] | type[RemoteLogRecord]],
    data: st.DataObject,
) -> None:
    for record_type in types.values():
        for version in versions(record_type):
            record = data.draw(Values().message(record_type, version))
            framed = write_typed(record, version)
            answer = java.ask(f"{topic} {framed.hex()}")
            assert answer == f"{record_type.__name__} {version} {framed.hex()}"
            assert read_typed(types, framed) == record


@pytest.mark.parametrize(
    ("topic", "kind"),
    [(topic, kind) for topic, types in COORDINATORS for kind in types.values()],
    ids=lambda each: each.value.__name__ if isinstance(each, CoordinatorType) else each,
)
@few
@given(data=st.data())
def test_coordinator_records(
    java: JavaProgram, topic: str, kind: CoordinatorType, data: st.DataObject
) -> None:
    types = dict(COORDINATORS)[topic]
    key = data.draw(Values().message(kind.key, 0))
    for version in versions(kind.value):
        value = data.draw(Values().message(kind.value, version))
        framed_key, framed_value = write_key(key), write_versioned(value, version)
        answer = java.ask(f"{topic} {framed_key.hex()} {framed_value.hex()}").split()
        assert answer[1:] == [
            kind.value.__name__,
            str(version),
            framed_key.hex(),
            framed_value.hex(),
        ]
        assert answer[0] == kind.key.__name__
        assert read_coordinator_record(types, framed_key, framed_value) == (key, value)


def test_a_tombstone(java: JavaProgram) -> None:
    key = GROUP_RECORDS[2].key(group="g")  # type: ignore[call-arg]
    framed = write_key(key).hex()
    assert java.ask(f"groups {framed} -") == f"GroupMetadataKey - - {framed} -"
    assert read_coordinator_record(GROUP_RECORDS, bytes.fromhex(framed), None) == (key, None)
