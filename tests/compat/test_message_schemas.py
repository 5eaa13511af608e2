"""Every declaration against the schemas in Kafka's jars: all that bytes alone do not show.

That is keys, listeners, which versions are stable, defaults, what may be null, left out or tagged.
"""

import json
import re
import zipfile
from functools import cache
from typing import Any

import pytest

from snakka.protocol.schema import (
    ArrayType,
    Field,
    Listeners,
    Message,
    Request,
    Struct,
    StructType,
    Versions,
    WireType,
    fields,
    zero,
)
from snakka.protocol.types import Number
from tests.compat.java_oracle import JARS, classpath
from tests.protocol.messages import all_messages

# Their JSON describes no message of ours: records/control.py reads the first two, whose keys and
# values are older than schemas; the third is a JSON file of the quorum, not a wire format.
NOT_DECLARED = {"ControlRecordTypeSchema", "EndTxnMarker", "QuorumStateData"}
LISTENERS = {
    ("broker",): Listeners.BROKER,
    ("controller",): Listeners.CONTROLLER,
    ("broker", "controller"): Listeners.BOTH,
}
COMMENT = re.compile(r"^\s*//.*$|\s//\s.*$", re.MULTILINE)

Schema = dict[str, Any]


@cache
def schemas() -> dict[str, Schema]:
    """Kafka's schemas of all messages that are still served, by name."""
    classpath()
    found = {}
    for jar in JARS.glob("kafka-*.jar"):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if re.search(r"(message|metadata)/\w+\.json$", entry):
                    schema = json.loads(COMMENT.sub("", archive.read(entry).decode()))
                    found[schema["name"]] = schema
    return {name: each for name, each in found.items() if each["validVersions"] != "none"}


def test_every_message_in_the_jars_is_declared_and_no_other() -> None:
    declared = {message.__name__ for message in all_messages()}
    assert declared == schemas().keys() - NOT_DECLARED


@pytest.mark.parametrize("message", all_messages(), ids=lambda each: each.__name__)
def test_the_declaration_says_what_the_schema_says(message: type[Message]) -> None:
    schema = schemas()[message.__name__]
    assert Versions.parse(schema["validVersions"]) == message.VERSIONS
    assert Versions.parse(schema["flexibleVersions"]) == message.FLEXIBLE
    assert schema.get("apiKey", -1) == message.KEY
    if issubclass(message, Request):
        assert LISTENERS[tuple(sorted(schema["listeners"]))] is message.LISTENERS
        unstable = int(schema.get("latestVersionUnstable", False))
        assert message.STABLE.last == message.VERSIONS.last - unstable
    structs = {each["name"]: each["fields"] for each in schema.get("commonStructs", [])}
    compare_fields(message, schema["fields"], structs, message.VERSIONS)


def compare_fields(
    struct: type[Struct], described: list[Schema], structs: dict[str, Any], outer: Versions
) -> None:
    """`outer` are the versions in which the struct is there at all."""
    present = [each for each in described if is_in(versions_of(each), outer)]
    assert [snake_case(each["name"]) for each in present] == [each.name for each in fields(struct)]
    for schema, each in zip(present, fields(struct), strict=True):
        compare_field(schema, each, structs, outer)


def compare_field(schema: Schema, each: Field, structs: dict[str, Any], outer: Versions) -> None:
    versions = overlap(versions_of(schema), outer)
    where = f"{schema['name']} in {versions}"
    assert overlap(each.versions, outer) == versions, where
    nullable = overlap(Versions.parse(schema.get("nullableVersions", "none")), versions)
    assert overlap(each.nullable, versions) == nullable, where
    assert schema.get("tag") == each.tag, where
    if each.tag is not None:
        assert overlap(Versions.parse(schema["taggedVersions"]), outer) == versions, where
    assert each.is_flexible == (schema.get("flexibleVersions") != "none"), where
    if versions != outer:
        assert bool(schema.get("ignorable")) == each.is_ignorable, where
    assert schema_type(each.type) == re.sub(r"[A-Z]\w*", "struct", schema["type"]), where
    assert default_of(schema, each) == each.default, where
    struct = each.type.element if isinstance(each.type, ArrayType) else each.type
    if isinstance(struct, StructType):
        inner = schema.get("fields") or structs[schema["type"].removeprefix("[]")]
        compare_fields(struct.struct, inner, structs, versions)


def versions_of(schema: Schema) -> Versions:
    return Versions.parse(schema.get("versions") or schema["taggedVersions"])


def overlap(one: Versions, other: Versions) -> Versions:
    both = Versions(max(one.first, other.first), min(one.last, other.last))
    return both if both.first <= both.last else Versions.parse("none")


def is_in(versions: Versions, outer: Versions) -> bool:
    return overlap(versions, outer) != Versions.parse("none")


def schema_type(kind: WireType) -> str:
    match kind:
        case ArrayType(element):
            return "[]" + schema_type(element)
        case StructType():
            return "struct"
        case Number(name):
            return name
        case _:
            return kind.value


def default_of(schema: Schema, each: Field) -> Any:
    """The default that a schema gives, or means where it gives none."""
    given = schema.get("default")
    is_struct = isinstance(each.type, StructType)
    if given == "null" or (given is None and "default" in schema and is_struct):
        return None
    if given is None:
        return zero(each.type)
    if isinstance(each.type, Number):
        return int(str(given), 0)
    return str(given).lower() == "true" if schema["type"] == "bool" else given


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name.replace("KRaft", "Kraft")).lower()
