"""DeleteTopics (key 20): remove topics. The controller decides (controller/)."""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse


@node_api(ApiKey.DELETE_TOPICS)
async def delete_topics(request: DeleteTopicsRequest, context: NodeContext) -> DeleteTopicsResponse:
    return await context.ask_controller(request, DeleteTopicsResponse)
