"""UpdateFeatures (key 57): change the cluster's feature levels.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


@api(ApiKey.UPDATE_FEATURES)
async def update_features(
    request: UpdateFeaturesRequest, context: RequestContext
) -> UpdateFeaturesResponse:
    return await context.services.controller.ask(request, context.version, UpdateFeaturesResponse)
