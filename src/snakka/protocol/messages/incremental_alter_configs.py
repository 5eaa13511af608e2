"""IncrementalAlterConfigs (key 44): set, unset, append to and take from configuration values.

KIP-339.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int8, Int16, Int32


class AlterableConfig(Struct):
    name: str
    config_operation: Int8
    value: str | None


class AlterConfigsResource(Struct):
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


class IncrementalAlterConfigsRequest(
    Request, key=44, versions="0-1", flexible="1+", listeners=Listeners.BOTH
):
    resources: list[AlterConfigsResource]
    validate_only: bool


class AlterConfigsResourceResponse(Struct):
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str


class IncrementalAlterConfigsResponse(Response, key=44, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]
