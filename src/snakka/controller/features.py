"""UpdateFeatures (KIP-584): the cluster's feature levels, all of a request or none.

A level rises only to what every node supports, and falls only when the sender says so, and not
past records that could not be read any more.

Not here: writing `kraft.version`, which is the quorum's own; the record that stands for it here
changes nothing, and is waited for.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from snakka.controller.alter_configs import MIN_ISR
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.ports import KraftVersion
from snakka.controller.view import View
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.metadata.versions import (
    ELR_VERSION,
    KRAFT_VERSION,
    METADATA_VERSION,
    SUPPORTED_FEATURES,
    Levels,
    MetadataVersion,
    loses_metadata,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import ConfigRecord, FeatureLevelRecord, NoOpRecord
from snakka.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

_OFF: Final = Levels(0, 0)
_NONE_CHANGED: Final = "The update failed for all features since the following feature had an error"


class UpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def update_features(
    view: View, request: UpdateFeaturesRequest, kraft: KraftVersion
) -> Decision[UpdateFeaturesResponse]:
    records: list[MetadataRecord] = []
    proposed = {**view.image.features}
    proposed |= {each.feature: each.max_version_level for each in request.feature_updates}
    try:
        for update in request.feature_updates:
            _check(view, update, proposed, kraft)
            records.append(_record(update))
    except RefusedError as refused:
        return Decision(
            UpdateFeaturesResponse(
                throttle_time_ms=0,
                error_code=refused.code,
                error_message=f"{_NONE_CHANGED}: {refused.message}",
            )
        )
    if proposed.get(ELR_VERSION, 0) and not view.has_elr:
        records += _unify_min_isr(view)
    results = [
        UpdatableFeatureResult(feature=each.feature, error_code=ErrorCode.NONE, error_message=None)
        for each in request.feature_updates
    ]
    response = UpdateFeaturesResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None, results=results
    )
    return Decision(response, [] if request.validate_only else records)


def _record(update: FeatureUpdateKey) -> MetadataRecord:
    if update.feature == KRAFT_VERSION:
        return NoOpRecord()
    return FeatureLevelRecord(name=update.feature, feature_level=update.max_version_level)


def _check(
    view: View, update: FeatureUpdateKey, proposed: Mapping[str, int], kraft: KraftVersion
) -> None:
    name, level = update.feature, update.max_version_level
    kind = UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else update.upgrade_type
    current = view.image.features.get(name, 0)
    if name == KRAFT_VERSION:
        current = kraft.kraft_version
    reason = None
    if kind not in list(UpgradeType):
        reason = "The controller does not support the given upgrade type."
    elif level < 0:
        reason = "A feature version cannot be less than 0."
    elif (unsupported := next(_unsupported(view, name, level), None)) is not None:
        reason = unsupported
    elif level < current and kind == UpgradeType.UPGRADE:
        reason = (
            "Can't downgrade the version of this feature without setting the upgrade type to"
            " either safe or unsafe downgrade."
        )
    elif level > current and kind != UpgradeType.UPGRADE:
        reason = "Can't downgrade to a newer version."
    elif name == KRAFT_VERSION and kind != UpgradeType.UPGRADE:
        reason = "Can't downgrade the version of this feature."
    if reason is not None:
        raise RefusedError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"Invalid update version {level} for feature {name}. {reason}",
        )
    if name == METADATA_VERSION:
        _check_metadata_version(view, level, kind)
    elif name == KRAFT_VERSION:
        _check_kraft_version(kraft, level)
    else:
        _check_dependencies(name, level, proposed)


def _unsupported(view: View, name: str, level: int) -> Iterator[str]:
    """What nodes say against it."""
    local = SUPPORTED_FEATURES.get(name, _OFF)
    yield from _reason(f"Local controller {view.settings.node_id}", local, level)
    for broker in view.image.brokers.values():
        yield from _reason(f"Broker {broker.broker_id}", broker.features.get(name, _OFF), level)
    for controller_id, controller in view.image.controllers.items():
        levels = next(
            (
                Levels(each.min_supported_version, each.max_supported_version)
                for each in controller.features
                if each.name == name
            ),
            _OFF,
        )
        if controller_id != view.settings.node_id:
            yield from _reason(f"Controller {controller_id}", levels, level)
    if not view.image.metadata_version.has_controller_registration:
        return
    for controller_id in view.settings.quorum_ids - {view.settings.node_id}:
        if controller_id not in view.image.controllers:
            yield (
                f"controller {controller_id} has not registered, and may not support this feature"
            )


def _reason(node: str, levels: Levels, level: int) -> Iterator[str]:
    if level in levels:
        return
    if levels.max == 0:
        yield f"{node} does not support this feature."
    elif levels.min == levels.max:
        yield f"{node} only supports versions {levels.min}"
    else:
        yield f"{node} only supports versions {levels.min}-{levels.max}"


def _check_metadata_version(view: View, level: int, kind: int) -> None:
    version, current = MetadataVersion(level), view.image.metadata_version
    if version < current and loses_metadata(current, version):
        reason = (
            "Unsafe metadata downgrade is not supported in this version."
            if kind == UpgradeType.UNSAFE_DOWNGRADE
            else "Refusing to perform the requested downgrade because it might delete metadata"
            " information."
        )
        raise RefusedError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"Unsupported metadata.version downgrade from {int(current)} to {level}. {reason}",
        )


def _check_kraft_version(kraft: KraftVersion, level: int) -> None:
    try:
        kraft.check_kraft_version(level)
    except ValueError as invalid:
        raise RefusedError(ErrorCode.INVALID_UPDATE_VERSION, str(invalid)) from None


def _check_dependencies(name: str, level: int, proposed: Mapping[str, int]) -> None:
    needed = MetadataVersion.V4_0_IV1
    if name == ELR_VERSION and level and proposed.get(METADATA_VERSION, 0) < needed:
        raise RefusedError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"Invalid update version {level} for feature {name}. {name} could not be set to"
            f" {level} because it depends on {METADATA_VERSION} level {needed.value}",
        )


def _unify_min_isr(view: View) -> Iterator[ConfigRecord]:
    """With ELR all brokers have one `min.insync.replicas`, and it is in the log (KIP-966)."""
    if MIN_ISR not in view.image.configs_of(ConfigResource.broker()):
        value = view.rules.default(ConfigType.BROKER, MIN_ISR)
        yield _min_isr("", value)
    for resource, configs in view.image.configs.items():
        if resource.type == ConfigType.BROKER and resource.name and MIN_ISR in configs:
            yield _min_isr(resource.name, None)


def _min_isr(broker: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(
        resource_type=ConfigType.BROKER, resource_name=broker, name=MIN_ISR, value=value
    )
