"""What a cluster begins with: the levels of its features, and what `format` adds to them. Pure.

Not here: the file that holds it until there is a controller (node/bootstrap_file.py).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from snakka.metadata.versions import (
    ELR_VERSION,
    KRAFT_VERSION,
    LATEST,
    METADATA_VERSION,
    SUPPORTED_FEATURES,
    MetadataVersion,
    default_levels,
)
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import FeatureLevelRecord

_ELR_NEEDS: Final = MetadataVersion.V4_0_IV1


class FormatError(ValueError):
    """Why a cluster cannot begin like this."""


def read_release(text: str) -> MetadataVersion:
    """A release as Kafka names it: `4.1-IV0`, or `4.1` for the last level of that release."""
    release = ".".join(text.split(".")[:2]) if "-" not in text else text
    found = [each for each in MetadataVersion if release in (str(each), _minor(each))]
    if not found:
        known = ", ".join(str(each) for each in MetadataVersion)
        raise FormatError(
            f"Unknown metadata.version '{text}'. Supported metadata.version are: {known}"
        )
    return max(found)


def _minor(version: MetadataVersion) -> str:
    return str(version).partition("-")[0]


def effective_levels(
    release: MetadataVersion | None, features: Mapping[str, int], *, is_dynamic: bool
) -> dict[str, int]:
    """All levels, `kraft.version` included, from those that were asked for."""
    features = dict(features)
    if METADATA_VERSION in features:
        if release is not None:
            raise FormatError(
                "Use --release-version instead of --feature metadata.version=X to avoid ambiguity."
            )
        _check_level(METADATA_VERSION, features[METADATA_VERSION])
        release = MetadataVersion(features[METADATA_VERSION])
    levels = default_levels(release or LATEST)
    for name, level in features.items():
        _check_level(name, level)
        levels[name] = level
    levels[KRAFT_VERSION] = _kraft_version(features.get(KRAFT_VERSION), is_dynamic=is_dynamic)
    if levels.get(ELR_VERSION) and levels[METADATA_VERSION] < _ELR_NEEDS:
        raise FormatError(
            f"{ELR_VERSION} could not be set to {levels[ELR_VERSION]} because it depends on"
            f" {METADATA_VERSION} level {_ELR_NEEDS.value}"
        )
    return levels


def _check_level(name: str, level: int) -> None:
    supported = SUPPORTED_FEATURES.get(name)
    if supported is None:
        known = ", ".join(sorted(SUPPORTED_FEATURES))
        raise FormatError(f"Unsupported feature: {name}. Supported features are: {known}")
    if level not in supported:
        raise FormatError(
            f"No feature:{name} with feature level {level}; it has {supported.min} to"
            f" {supported.max}"
        )


def _kraft_version(asked: int | None, *, is_dynamic: bool) -> int:
    if asked is None:
        return 1 if is_dynamic else 0
    if bool(asked) != is_dynamic:
        reason = "is" if is_dynamic else "is not"
        raise FormatError(
            f"Cannot set {KRAFT_VERSION} to {asked} where the quorum {reason} dynamic, which it"
            " is without controller.quorum.voters. Try removing the --feature flag for it."
        )
    return asked


def bootstrap_records(
    levels: Mapping[str, int], others: Iterable[MetadataRecord] = ()
) -> list[MetadataRecord]:
    """The first records of a log. `kraft.version` is not among them: it is the quorum's own."""
    names = sorted(set(levels) - {METADATA_VERSION, KRAFT_VERSION})
    return [
        FeatureLevelRecord(name=name, feature_level=levels[name])
        for name in (METADATA_VERSION, *names)
        if levels[name]
    ] + list(others)
