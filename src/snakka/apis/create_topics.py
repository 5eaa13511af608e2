"""CreateTopics (key 19): make topics. The controller decides (controller/)."""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse


@api(ApiKey.CREATE_TOPICS)
async def create_topics(
    request: CreateTopicsRequest, context: RequestContext
) -> CreateTopicsResponse:
    return await context.services.controller.ask(request, context.version, CreateTopicsResponse)
