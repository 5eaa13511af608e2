"""DescribeQuorum (key 55): voters, observers, and how far they are. The quorum answers (quorum/).

KIP-595, KIP-836, KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse


@node_api(ApiKey.DESCRIBE_QUORUM)
async def describe_quorum(
    request: DescribeQuorumRequest, context: NodeContext
) -> DescribeQuorumResponse:
    return await context.ask_controller(request, DescribeQuorumResponse)
