"""How a message is declared: once, for all its versions, as a class that mypy reads too.

    class Topic(Struct):
        name: str
        leader_epoch: Int32 = field("7+", default=-1)

    class ThingRequest(Request, key=99, versions="0-7", flexible="5+"):
        topics: list[Topic]
        reason: str | None = field("6+", nullable="7+")

A field without a right-hand side is in every version and has to be given; one with a plain value
is in every version and may be left out; `field()` says the rest. Messages are values: mypy refuses
to assign to them, and the default of a nested struct is shared.

Not here: bytes (codec.py), Kafka's wire types (types.py), the messages (messages/, internal/).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from snakka.protocol.types import ZERO_UUID, Number, Scalar, Uuid

NO_TAGGED_FIELDS: Final[Mapping[int, bytes]] = MappingProxyType({})

_REQUIRED: Final = object()
_LAST_VERSION: Final = 32767
_SCALARS: Final = {
    str: Scalar.STRING,
    bytes: Scalar.BYTES,
    bool: Scalar.BOOL,
    Uuid: Scalar.UUID,
}
_ZEROS: Final = {
    Scalar.STRING: "",
    Scalar.BYTES: b"",
    Scalar.BOOL: False,
    Scalar.UUID: ZERO_UUID,
    Scalar.RECORDS: b"",
}


class Versions(NamedTuple):
    """An inclusive range of versions; empty when `last` is before `first`."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> "Versions":
        """`"3"`, `"3-5"`, `"3+"` or `"none"`."""
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), _LAST_VERSION)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


@dataclass(frozen=True, slots=True)
class StructType:
    """A nested struct."""

    struct: "type[Struct]"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array, never of arrays."""

    element: "Number | Scalar | StructType"


WireType: TypeAlias = Number | Scalar | StructType | ArrayType


@dataclass(frozen=True, slots=True)
class Field:
    """What a declaration says of one field."""

    name: str
    type: WireType
    is_required: bool
    default: Any
    versions: Versions
    nullable: Versions
    tag: int | None
    is_ignorable: bool
    is_flexible: bool


@dataclass(frozen=True, slots=True)
class _Declared:
    """A field's right-hand side, before its annotation is looked at."""

    versions: str = "0+"
    default: Any = None
    has_default: bool = False
    nullable: str = "0+"
    tag: int | None = None
    is_ignorable: bool = False
    is_flexible: bool = True


def field(
    versions: str = "0+",
    *,
    default: Any = _REQUIRED,
    nullable: str = "0+",
    tag: int | None = None,
    ignorable: bool = False,
    flexible: bool = True,
) -> Any:
    """A field that is not in all versions, has a tag, or is null in some versions only.

    Without a `default` it is zero, empty, or a struct of defaults. Where a version lacks the field
    an `ignorable` one is left out, and any other refuses to be encoded unless it has its default.
    One that is not `flexible` keeps the old length prefix in flexible versions.
    """
    has_default = default is not _REQUIRED
    return _Declared(versions, default, has_default, nullable, tag, ignorable, flexible)


def _is_class_variable(annotation: Any) -> bool:
    origin: Any = get_origin(annotation)
    return origin is ClassVar


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _StructMeta(type):
    """Turns annotations into slots. All else waits for first use: most messages never see any."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> "_StructMeta":
        # A class is where every Python version has the annotations.
        annotations = type(name, (), dict(namespace)).__annotations__
        names = [each for each, kind in annotations.items() if not _is_class_variable(kind)]
        declared = {each: (annotations[each], namespace.pop(each, _REQUIRED)) for each in names}
        namespace["__slots__"] = tuple(names)
        namespace["_DECLARED"] = declared
        return super().__new__(mcs, name, bases, namespace, **options)


S = TypeVar("S", bound="Struct")


class Struct(metaclass=_StructMeta):
    """A run of fields. Equal when all fields are; what a newer peer added is kept by tag."""

    _DECLARED: ClassVar[Mapping[str, tuple[Any, Any]]]

    unknown_tagged_fields: Mapping[int, bytes] = NO_TAGGED_FIELDS

    def __init__(self, **values: Any) -> None:
        constructor = _compile_constructor(type(self))
        type.__setattr__(type(self), "__init__", constructor)
        constructor(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            getattr(self, each.name) == getattr(other, each.name) for each in fields(type(self))
        ) and dict(self.unknown_tagged_fields) == dict(other.unknown_tagged_fields)

    __hash__ = None  # type: ignore[assignment]  # as of any class with values in lists

    def __repr__(self) -> str:
        names = [each.name for each in fields(type(self))]
        if self.unknown_tagged_fields:
            names.append("unknown_tagged_fields")
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({values})"


def replace(struct: S, **changes: Any) -> S:
    """A copy with other values in some fields."""
    values = {each.name: getattr(struct, each.name) for each in fields(type(struct))}
    return type(struct)(**{**values, **changes})


class Message(Struct):
    """A struct that stands alone, in versions of its own."""

    KEY: ClassVar[int]
    VERSIONS: ClassVar[Versions]
    FLEXIBLE: ClassVar[Versions]

    def __init_subclass__(
        cls, *, versions: str = "none", flexible: str = "none", key: int = -1
    ) -> None:
        cls.VERSIONS = Versions.parse(versions)
        cls.FLEXIBLE = Versions.parse(flexible)
        cls.KEY = key


class Listeners(Flag):
    """The kinds of listener that serve a request."""

    BROKER = auto()
    CONTROLLER = auto()
    BOTH = BROKER | CONTROLLER


class Request(Message):
    """What a client sends: its API key, and which listeners answer it.

    Versions from `unstable` on are declared, but served only where unstable ones are enabled.
    """

    LISTENERS: ClassVar[Listeners]
    STABLE: ClassVar[Versions]

    def __init_subclass__(
        cls,
        *,
        key: int,
        versions: str,
        flexible: str,
        listeners: Listeners = Listeners.BROKER,
        unstable: int | None = None,
    ) -> None:
        super().__init_subclass__(key=key, versions=versions, flexible=flexible)
        cls.LISTENERS = listeners
        last = cls.VERSIONS.last if unstable is None else unstable - 1
        cls.STABLE = Versions(cls.VERSIONS.first, last)


class Response(Message):
    """What answers the request of the same key, in the request's version."""


@cache
def fields(struct: type[Struct]) -> tuple[Field, ...]:
    """The fields of a struct in the order of the wire."""
    return tuple(_field(name, *declared) for name, declared in struct._DECLARED.items())


def _field(name: str, annotation: Any, assigned: Any) -> Field:
    if isinstance(assigned, _Declared):
        declared = assigned
    else:
        declared = _Declared(default=assigned, has_default=assigned is not _REQUIRED)
    kind, is_nullable = _wire_type(annotation)
    return Field(
        name=name,
        type=kind,
        is_required=assigned is _REQUIRED,
        default=declared.default if declared.has_default else zero(kind),
        versions=Versions.parse(declared.versions),
        nullable=Versions.parse(declared.nullable if is_nullable else "none"),
        tag=declared.tag,
        is_ignorable=declared.is_ignorable,
        is_flexible=declared.is_flexible,
    )


def _wire_type(annotation: Any) -> tuple[WireType, bool]:
    """The type that an annotation names, and whether it may be null."""
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = (each for each in get_args(annotation) if each is not NoneType)
        return _wire_type(inner)[0], True
    if get_origin(annotation) is list:
        element, _ = _wire_type(get_args(annotation)[0])
        if isinstance(element, ArrayType):
            raise TypeError(f"{annotation}: the protocol has no arrays of arrays")
        return ArrayType(element), False
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return StructType(annotation), False
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[1], False
    return _SCALARS[annotation], False


def zero(kind: WireType) -> Any:
    """What a field holds that nobody set: zero, empty, or a struct of such."""
    match kind:
        case Number(letter="d"):
            return 0.0
        case Number():
            return 0
        case Scalar():
            return _ZEROS[kind]
        case ArrayType():
            return []
        case StructType():
            return default_struct(kind.struct)


@cache
def default_struct(struct: type[Struct]) -> Any:
    """The one instance of `struct` with nothing set, shared by all that hold it."""
    return struct(**{each.name: each.default for each in fields(struct)})


def _compile_constructor(struct: type[Struct]) -> Callable[..., None]:
    """A keyword-only `__init__` of this struct's own; every instance gets lists of its own."""
    names: dict[str, Any] = {"no_tagged_fields": NO_TAGGED_FIELDS, "no_list": object()}
    parameters, body = [], []
    for each in fields(struct):
        value = each.name
        if each.is_required:
            parameters.append(each.name)
        elif each.default == [] and isinstance(each.type, ArrayType):
            parameters.append(f"{each.name}=no_list")
            value = f"[] if {each.name} is no_list else {each.name}"
        else:
            parameters.append(f"{each.name}=default_{each.name}")
            names[f"default_{each.name}"] = each.default
        body.append(f"    self.{each.name} = {value}\n")
    parameters.append("unknown_tagged_fields=no_tagged_fields")
    body.append("    self.unknown_tagged_fields = unknown_tagged_fields\n")
    exec(f"def __init__(self, *, {', '.join(parameters)}):\n{''.join(body)}", names)
    constructor: Callable[..., None] = names["__init__"]
    return constructor
