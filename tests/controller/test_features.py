"""UpdateFeatures."""

from dataclasses import replace

import pytest

from snakka.controller.features import UpgradeType, update_features
from snakka.metadata.keys import ConfigResource
from snakka.metadata.versions import SUPPORTED_FEATURES
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import (
    BrokerFeature,
    ConfigRecord,
    FeatureLevelRecord,
    RegisterBrokerRecord,
)
from snakka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.controller.making import Cluster
from tests.metadata.making import register

INVALID = ErrorCode.INVALID_UPDATE_VERSION
NONE_CHANGED = "The update failed for all features since the following feature had an error: "


class Kraft:
    """A quorum whose voters support the next version, or do not."""

    def __init__(self, version: int = 0, reason: str | None = None) -> None:
        self.kraft_version = version
        self._reason = reason

    def check_kraft_version(self, version: int) -> None:
        if self._reason is not None:
            raise ValueError(self._reason)


def broker(**highest: int) -> RegisterBrokerRecord:
    registration = register(1)
    registration.features[:] = [
        BrokerFeature(
            name=name,
            min_supported_version=levels.min,
            max_supported_version=highest.get(name.replace(".", "_"), levels.max),
        )
        for name, levels in SUPPORTED_FEATURES.items()
    ]
    return registration


def update(
    cluster: Cluster,
    *updates: tuple[str, int],
    kind: int = UpgradeType.UPGRADE,
    validate_only: bool = False,
    kraft: Kraft | None = None,
) -> tuple[int, str | None]:
    asked = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(
                feature=name, max_version_level=level, allow_downgrade=False, upgrade_type=kind
            )
            for name, level in updates
        ],
        validate_only=validate_only,
    )
    response = cluster.decide(update_features(cluster.view, asked, kraft or Kraft()))
    message = response.error_message
    if message is not None:
        assert message.startswith(NONE_CHANGED)
        message = message.removeprefix(NONE_CHANGED)
    return response.error_code, message


def at(level: int, *others: FeatureLevelRecord) -> Cluster:
    off = [
        FeatureLevelRecord(name=name, feature_level=0)
        for name in SUPPORTED_FEATURES
        if name not in ("metadata.version", "kraft.version")
    ]
    level_record = FeatureLevelRecord(name="metadata.version", feature_level=level)
    return Cluster(broker(), *off, level_record, *others)


def test_levels_rise_and_fall() -> None:
    cluster = at(22)
    assert update(cluster, ("metadata.version", 30), ("group.version", 1)) == (0, None)
    assert cluster.view.image.metadata_version == 30
    assert cluster.view.image.features["group.version"] == 1
    assert update(cluster, ("group.version", 0), kind=UpgradeType.SAFE_DOWNGRADE) == (0, None)
    assert "group.version" not in cluster.view.image.features


def test_the_level_of_metadata_falls_where_nothing_is_lost() -> None:
    cluster = at(29)
    assert update(cluster, ("metadata.version", 23), kind=2) == (0, None)
    assert update(cluster, ("metadata.version", 22), kind=2) == (
        INVALID,
        "Unsupported metadata.version downgrade from 23 to 22. Refusing to perform the"
        " requested downgrade because it might delete metadata information.",
    )
    assert update(cluster, ("metadata.version", 22), kind=3) == (
        INVALID,
        "Unsupported metadata.version downgrade from 23 to 22. Unsafe metadata downgrade"
        " is not supported in this version.",
    )


def test_all_levels_change_or_none() -> None:
    cluster = at(22)
    code, _ = update(cluster, ("group.version", 1), ("group.version.9", 1))
    assert code == INVALID
    assert "group.version" not in cluster.view.image.features


def test_nothing_changes_when_it_only_validates() -> None:
    cluster = at(22)
    assert update(cluster, ("metadata.version", 30), validate_only=True) == (0, None)
    assert cluster.view.image.metadata_version == 22


@pytest.mark.parametrize(
    ("name", "level", "kind", "reason"),
    [
        ("group.version", 1, 9, "The controller does not support the given upgrade type."),
        ("group.version", -1, 1, "A feature version cannot be less than 0."),
        ("no.such", 1, 1, "Local controller 1 does not support this feature."),
        ("metadata.version", 31, 1, "Local controller 1 only supports versions 7-30"),
        ("metadata.version", 6, 2, "Local controller 1 only supports versions 7-30"),
        ("metadata.version", 20, 1, "Can't downgrade the version of this feature without setting"
         " the upgrade type to either safe or unsafe downgrade."),
        ("metadata.version", 23, 2, "Can't downgrade to a newer version."),
        ("kraft.version", 2, 1, "Local controller 1 only supports versions 0-1"),
        ("kraft.version", 1, 2, "Can't downgrade to a newer version."),
        ("kraft.version", 0, 3, "Can't downgrade the version of this feature."),
        ("eligible.leader.replicas.version", 1, 1, "eligible.leader.replicas.version could not be"
         " set to 1 because it depends on metadata.version level 23"),
    ],
)  # fmt: skip
def test_refused(name: str, level: int, kind: int, reason: str) -> None:
    message = f"Invalid update version {level} for feature {name}. {reason}"
    assert update(at(22), (name, level), kind=kind) == (INVALID, message)


def test_the_quorum_has_its_own_say_about_its_version() -> None:
    cluster, kraft = at(22), Kraft(reason="not all of the voters support it")
    assert update(cluster, ("kraft.version", 1)) == (0, None)
    assert "kraft.version" not in cluster.view.image.features
    assert update(cluster, ("kraft.version", 1), kraft=kraft) == (
        INVALID,
        "not all of the voters support it",
    )
    assert update(cluster, ("kraft.version", 0), kraft=Kraft(1))[1] == (
        "Invalid update version 0 for feature kraft.version. Can't downgrade the version of this"
        " feature without setting the upgrade type to either safe or unsafe downgrade."
    )


def test_what_a_node_does_not_support_is_refused() -> None:
    cluster = at(22, FeatureLevelRecord(name="group.version", feature_level=0))
    cluster.apply([broker(metadata_version=25, group_version=0)])
    assert update(cluster, ("metadata.version", 26))[1] == (
        "Invalid update version 26 for feature metadata.version. Broker 1 only supports versions"
        " 7-25"
    )
    assert update(cluster, ("group.version", 1))[1] == (
        "Invalid update version 1 for feature group.version. Broker 1 does not support this"
        " feature."
    )
    cluster.view.settings = replace(cluster.view.settings, quorum_ids=frozenset({1, 2}))
    assert update(cluster, ("metadata.version", 25))[1] == (
        "Invalid update version 25 for feature metadata.version. controller 2 has not registered,"
        " and may not support this feature"
    )


def test_eligible_leader_replicas_make_the_minimal_isr_one_of_the_cluster() -> None:
    cluster = at(25)
    cluster.apply(
        [ConfigRecord(resource_type=4, resource_name="1", name="min.insync.replicas", value="2")]
    )
    assert update(cluster, ("eligible.leader.replicas.version", 1)) == (0, None)
    assert cluster.view.image.configs_of(ConfigResource.broker(1)) == {}
    assert cluster.view.image.configs_of(ConfigResource.broker()) == {"min.insync.replicas": "1"}
