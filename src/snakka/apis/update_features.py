"""UpdateFeatures (key 57): change the cluster's feature levels.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


@node_api(ApiKey.UPDATE_FEATURES)
async def update_features(
    request: UpdateFeaturesRequest, context: NodeContext
) -> UpdateFeaturesResponse:
    return await context.ask_controller(request, UpdateFeaturesResponse)
