"""The APIs that are served: each handler registers itself with its key and versions.

ApiVersions and the table in the documentation are computed from this, so neither can promise what
is not there.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from snakka.apis.context import RequestContext
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.schema import Listeners, Request, Response, Versions

Handler: TypeAlias = Callable[[Any, RequestContext], Coroutine[Any, Any, Response | None]]

_R = TypeVar("_R", bound=Request)
_A = TypeVar("_A", bound=Response | None)


@dataclass(frozen=True, slots=True)
class Api:
    """A handler, and what it serves."""

    key: ApiKey
    versions: Versions
    listeners: Listeners
    handler: Handler


_APIS: dict[int, Api] = {}
APIS: Mapping[int, Api] = MappingProxyType(_APIS)


def api(
    key: ApiKey,
) -> Callable[
    [Callable[[_R, RequestContext], Coroutine[Any, Any, _A]]],
    Callable[[_R, RequestContext], Coroutine[Any, Any, _A]],
]:
    """Registers the handler of an API, in all stable versions that Kafka has of it."""

    def register(
        handler: Callable[[_R, RequestContext], Coroutine[Any, Any, _A]],
    ) -> Callable[[_R, RequestContext], Coroutine[Any, Any, _A]]:
        request = request_type(key)
        if key in _APIS:
            raise ValueError(f"{key.name} has a handler already")
        _APIS[key] = Api(key, request.STABLE, request.LISTENERS, handler)
        return handler

    return register
