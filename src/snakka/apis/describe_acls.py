"""DescribeAcls (key 29): access rules that match a filter.

There is no authorizer yet, and without one access rules are neither kept nor told of.
"""

from snakka.apis.authorization import NO_AUTHORIZER
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


@api(ApiKey.DESCRIBE_ACLS)
async def describe_acls(
    request: DescribeAclsRequest, context: RequestContext
) -> DescribeAclsResponse:
    return DescribeAclsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message=NO_AUTHORIZER,
        resources=[],
    )
