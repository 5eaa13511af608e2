"""CreateAcls (key 30): add access rules.

There is no authorizer yet, and without one access rules are neither kept nor told of.
"""

from snakka.apis.authorization import NO_AUTHORIZER
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


@api(ApiKey.CREATE_ACLS)
async def create_acls(request: CreateAclsRequest, context: RequestContext) -> CreateAclsResponse:
    refused = AclCreationResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    return CreateAclsResponse(throttle_time_ms=0, results=[refused for _ in request.creations])
