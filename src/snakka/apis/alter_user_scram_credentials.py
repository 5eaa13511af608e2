"""AlterUserScramCredentials (key 51): set and remove credentials. KIP-554.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)


@node_api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)
async def alter_user_scram_credentials(
    request: AlterUserScramCredentialsRequest, context: NodeContext
) -> AlterUserScramCredentialsResponse:
    return await context.ask_controller(request, AlterUserScramCredentialsResponse)
