"""CreateTopics (key 19): make topics. The controller decides (controller/)."""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse


@node_api(ApiKey.CREATE_TOPICS)
async def create_topics(request: CreateTopicsRequest, context: NodeContext) -> CreateTopicsResponse:
    return await context.ask_controller(request, CreateTopicsResponse)
