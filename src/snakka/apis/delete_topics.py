"""DeleteTopics (key 20): remove topics. The controller decides (controller/)."""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse


@api(ApiKey.DELETE_TOPICS)
async def delete_topics(
    request: DeleteTopicsRequest, context: RequestContext
) -> DeleteTopicsResponse:
    return await context.services.controller.ask(request, context.version, DeleteTopicsResponse)
