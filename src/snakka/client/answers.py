"""The error codes in an answer, wherever its declaration has them."""

from collections.abc import Iterator, Set
from typing import Any

from snakka.client.errors import check, kafka_error
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.schema import ArrayType, Response, Struct, StructType, fields


def check_answer(response: Response) -> None:
    """Raises what an answer as a whole says went wrong."""
    check(getattr(response, "error_code", 0), getattr(response, "error_message", None))


def error_codes(struct: Struct) -> Iterator[int]:
    """All codes of an answer, of the whole and of its parts, that stand for errors."""
    for each in fields(type(struct)):
        value: Any = getattr(struct, each.name)
        if each.name.endswith("error_code") and value:
            yield value
        elif isinstance(each.type, StructType) and value is not None:
            yield from error_codes(value)
        elif isinstance(each.type, ArrayType) and isinstance(each.type.element, StructType):
            for element in value or ():
                yield from error_codes(element)


def raise_any(answer: Response, codes: Set[ErrorCode]) -> None:
    """Raises the first of these codes that any part of an answer has."""
    for code in error_codes(answer):
        if code in codes:
            raise kafka_error(code)
