"""DescribeConfigs (key 32): configuration values with their sources, synonyms and documentation.

KIP-226 synonyms (v1), KIP-569 types and documentation (v3).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32


class DescribeConfigsResource(Struct):
    resource_type: Int8
    resource_name: str
    configuration_keys: list[str] | None


class DescribeConfigsRequest(
    Request, key=32, versions="1-4", flexible="4+", listeners=Listeners.BOTH
):
    resources: list[DescribeConfigsResource]
    include_synonyms: bool = False
    include_documentation: bool = field("3+", default=False)


class DescribeConfigsSynonym(Struct):
    name: str
    value: str | None
    source: Int8


class DescribeConfigsResourceResult(Struct):
    name: str
    value: str | None
    read_only: bool
    config_source: Int8 = -1
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym]
    config_type: Int8 = field("3+", default=0, ignorable=True)
    documentation: str | None = field("3+", ignorable=True)


class DescribeConfigsResult(Struct):
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str
    configs: list[DescribeConfigsResourceResult]


class DescribeConfigsResponse(Response, key=32, versions="1-4", flexible="4+"):
    throttle_time_ms: Int32
    results: list[DescribeConfigsResult]
