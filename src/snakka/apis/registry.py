"""The APIs that are served: each handler registers itself with its key and versions.

Brokers' and controllers' listeners serve different ones, and of a few the same API differently.
ApiVersions and the table in the documentation are computed from this, so neither can promise what
is not there.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from snakka.apis.context import NodeContext, RequestContext
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.frames import EncodedResponse
from snakka.protocol.schema import Listeners, Request, Response, Versions

Handler: TypeAlias = Callable[[Any, Any], Coroutine[Any, Any, Response | EncodedResponse | None]]

_R = TypeVar("_R", bound=Request)
_A = TypeVar("_A", bound=Response | EncodedResponse | None)
_OnBroker: TypeAlias = Callable[[_R, RequestContext], Coroutine[Any, Any, _A]]
_OnAny: TypeAlias = Callable[[_R, NodeContext], Coroutine[Any, Any, _A]]


@dataclass(frozen=True, slots=True)
class Api:
    """A handler, and what it serves."""

    key: ApiKey
    versions: Versions
    handler: Handler


_BROKER_APIS: Final[dict[int, Api]] = {}
_CONTROLLER_APIS: Final[dict[int, Api]] = {}
APIS: Final[Mapping[int, Api]] = MappingProxyType(_BROKER_APIS)
CONTROLLER_APIS: Final[Mapping[int, Api]] = MappingProxyType(_CONTROLLER_APIS)


def apis_of(listeners: Listeners) -> Mapping[int, Api]:
    """What a kind of listener serves."""
    return CONTROLLER_APIS if listeners is Listeners.CONTROLLER else APIS


def api(key: ApiKey) -> Callable[[_OnBroker[_R, _A]], _OnBroker[_R, _A]]:
    """Registers the handler of an API on brokers, in all stable versions that Kafka has of it."""

    def register(handler: _OnBroker[_R, _A]) -> _OnBroker[_R, _A]:
        _register(_BROKER_APIS, key, handler)
        return handler

    return register


def controller_api(key: ApiKey) -> Callable[[_OnAny[_R, _A]], _OnAny[_R, _A]]:
    """Registers what controllers do."""

    def register(handler: _OnAny[_R, _A]) -> _OnAny[_R, _A]:
        _register(_CONTROLLER_APIS, key, handler)
        return handler

    return register


def node_api(key: ApiKey) -> Callable[[_OnAny[_R, _A]], _OnAny[_R, _A]]:
    """Registers what brokers and controllers do alike."""

    def register(handler: _OnAny[_R, _A]) -> _OnAny[_R, _A]:
        for apis in (_BROKER_APIS, _CONTROLLER_APIS):
            _register(apis, key, handler)
        return handler

    return register


def _register(apis: dict[int, Api], key: ApiKey, handler: Handler) -> None:
    request = request_type(key)
    kind = Listeners.BROKER if apis is _BROKER_APIS else Listeners.CONTROLLER
    if kind not in request.LISTENERS:
        raise ValueError(f"{key.name} is not served there")
    if key in apis:
        raise ValueError(f"{key.name} has a handler already")
    apis[key] = Api(key, request.STABLE, handler)
