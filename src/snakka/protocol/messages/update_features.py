"""UpdateFeatures (key 57): change the cluster's feature levels.

KIP-584.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32


class FeatureUpdateKey(Struct):
    feature: str
    max_version_level: Int16
    allow_downgrade: bool = field("0")
    upgrade_type: Int8 = field("1+", default=1)


class UpdateFeaturesRequest(
    Request, key=57, versions="0-2", flexible="0+", listeners=Listeners.BOTH
):
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool = field("1+", default=False)


class UpdatableFeatureResult(Struct):
    feature: str
    error_code: Int16
    error_message: str | None


class UpdateFeaturesResponse(Response, key=57, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    results: list[UpdatableFeatureResult] = field("0-1", ignorable=True)
