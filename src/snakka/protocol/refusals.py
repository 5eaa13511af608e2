"""The answer that refuses a request: one error code wherever the response has room for one.

Made from the declarations: what the request names (topics, partitions, groups) is named in the
response, as clients expect, and everything else has its default.
"""

from typing import Any, Final, TypeVar

from snakka.protocol.api_keys import ApiKey, response_type
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.schema import ArrayType, Field, Request, Response, Struct, StructType, fields
from snakka.protocol.types import Number, Scalar

# One thing under several names: a response says `index` where its request said `partition`.
_SYNONYMS: Final = (
    frozenset({"index", "partition", "partition_index", "partition_id"}),
    frozenset({"name", "topic", "topic_name"}),
)

_S = TypeVar("_S", bound=Struct)


def refusal(request: Request, version: int, code: ErrorCode) -> Response:
    """The response to `request` in which everything failed with `code`."""
    return _answer(response_type(ApiKey(request.KEY)), request, version, code)


def _answer(struct: type[_S], asked: object, version: int, code: ErrorCode) -> _S:
    values: dict[str, Any] = {}
    for each in fields(struct):
        values[each.name] = each.default
        if version in each.versions:
            values[each.name] = _value(each, asked, version, code)
    return struct(**values)


def _value(field: Field, asked: object, version: int, code: ErrorCode) -> Any:
    if field.name == "error_code":
        return code
    if field.name == "error_message":
        return code.message
    match field.type:
        case ArrayType(StructType(struct)) if _can_fail(struct):
            items = _asked_items(field.name, asked, version)
            return [_answer(struct, item, version, code) for item in items]
        case Number() | Scalar() as kind:
            named = _named(field.name, kind, asked, field.default)
            return field.default if named is None and version not in field.nullable else named
    return field.default


def _can_fail(struct: type[Struct]) -> bool:
    """Whether there is an error code in it, at any depth."""
    return any(
        each.name == "error_code"
        or (
            isinstance(each.type, ArrayType)
            and isinstance(each.type.element, StructType)
            and _can_fail(each.type.element.struct)
        )
        for each in fields(struct)
    )


def _asked_items(name: str, asked: object, version: int) -> list[Any]:
    """The list of the request that a list of the response answers: its namesake, or its first."""
    if not isinstance(asked, Struct):
        return []
    lists = [
        each.name
        for each in fields(type(asked))
        if isinstance(each.type, ArrayType) and version in each.versions
    ]
    if not lists:
        return []
    return getattr(asked, name if name in lists else lists[0]) or []


def _named(name: str, kind: Number | Scalar, asked: object, default: Any) -> Any:
    """What the request calls the thing that a field names."""
    if not isinstance(asked, Struct):
        is_same_kind = isinstance(asked, int) == isinstance(kind, Number)
        return asked if is_same_kind else default
    names = next((each for each in _SYNONYMS if name in each), frozenset({name}))
    for each in fields(type(asked)):
        if each.name in names and each.type == kind:
            return getattr(asked, each.name)
    return default
