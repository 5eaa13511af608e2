"""DescribeConfigs (key 32): configuration values with their sources, synonyms and documentation.

KIP-226 synonyms (v1), KIP-569 types and documentation (v3). A broker tells of itself only; other
brokers are asked by the client. Not here: log levels (broker loggers), which Snakka has none of.
"""

from collections.abc import Iterable

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.config.broker import BrokerConfig
from snakka.config.describing import (
    Described,
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from snakka.config.group import GroupConfig
from snakka.config.topic import TopicConfig
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


class _UnknownResourceError(Exception):
    """A resource that is not here, with what the client is told."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@api(ApiKey.DESCRIBE_CONFIGS)
async def describe_configs(
    request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[_result(each, request, context) for each in request.resources],
    )


def _result(
    asked: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    code, message, found = ErrorCode.NONE, None, list[Described]()
    try:
        found = list(_describe(asked, context))
    except _UnknownResourceError as error:
        code, message = error.code, str(error)
    wanted = None if asked.configuration_keys is None else set(asked.configuration_keys)
    return DescribeConfigsResult(
        error_code=code,
        error_message=message,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
        configs=[_config(each, request) for each in found if wanted is None or each.name in wanted],
    )


def _describe(asked: DescribeConfigsResource, context: RequestContext) -> Iterable[Described]:
    image, name = context.image, asked.resource_name
    resource = ConfigResource(asked.resource_type, name)
    broker = _broker_config(context)
    match asked.resource_type:
        case ConfigType.TOPIC:
            if image.topics.find(name) is None:
                raise _UnknownResourceError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}"
                )
            return describe_topic(TopicConfig(broker, image.configs_of(resource)), broker)
        case ConfigType.BROKER:
            return _describe_broker(name, broker)
        case ConfigType.GROUP:
            return describe_group(GroupConfig(broker, image.configs_of(resource)), broker)
        case ConfigType.CLIENT_METRICS:
            return describe_client_metrics(image.configs_of(resource))
        case _:
            raise _UnknownResourceError(
                ErrorCode.INVALID_REQUEST, f"resource type {asked.resource_type} has no configs"
            )


def _describe_broker(name: str, broker: BrokerConfig) -> Iterable[Described]:
    if not name:
        return describe_broker_defaults(broker)
    if name != str(broker.node_id):
        raise _UnknownResourceError(
            ErrorCode.INVALID_REQUEST, f"this is broker {broker.node_id}, not {name}"
        )
    return describe_broker(broker)


def _broker_config(context: RequestContext) -> BrokerConfig:
    """This broker's configuration, with what was set while it runs."""
    config, image = context.services.config, context.image
    return config.with_dynamic(
        image.configs_of(ConfigResource.broker()),
        image.configs_of(ConfigResource.broker(config.node_id)),
    )


def _config(found: Described, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    synonyms = found.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=found.name,
        value=found.value,
        read_only=found.is_read_only,
        config_source=found.source,
        is_sensitive=found.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=each.name, value=each.value, source=each.source)
            for each in synonyms
        ],
        config_type=found.type,
        documentation=found.doc if request.include_documentation else None,
    )
