"""What a cluster begins with: feature levels by release and by name."""

import pytest

from snakka.metadata.bootstrap import (
    FormatError,
    bootstrap_records,
    effective_levels,
    read_release,
)
from snakka.metadata.versions import LATEST, MetadataVersion
from snakka.protocol.internal.metadata import UserScramCredentialRecord


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.7-IV2", MetadataVersion.V3_7_IV2),
        ("3.7", MetadataVersion.V3_7_IV4),
        ("3.7.1", MetadataVersion.V3_7_IV4),
        ("4.3-IV0", LATEST),
    ],
)
def test_releases_go_by_kafkas_names(text: str, expected: MetadataVersion) -> None:
    assert read_release(text) is expected


@pytest.mark.parametrize("text", ["9.9", "3.2", "4", "", "four"])
def test_an_unknown_release_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(FormatError, match=r"Unknown metadata.version .*3\.3-IV3.*4\.3-IV0"):
        read_release(text)


def test_an_older_release_has_the_levels_that_it_had() -> None:
    assert effective_levels(MetadataVersion.V3_7_IV4, {}, is_dynamic=False) == {
        "metadata.version": 19,
        "kraft.version": 0,
    }


def test_a_feature_can_be_chosen() -> None:
    levels = effective_levels(None, {"transaction.version": 1, "share.version": 0}, is_dynamic=True)
    assert (levels["transaction.version"], levels["share.version"]) == (1, 0)
    assert levels["kraft.version"] == 1
    credential = UserScramCredentialRecord(
        name="x", mechanism=1, salt=b"", stored_key=b"", server_key=b"", iterations=1
    )
    *features, last = bootstrap_records(levels, [credential])
    assert last is credential
    names = [each.name for each in features]  # type: ignore[attr-defined]
    assert names[0] == "metadata.version"
    assert not {"kraft.version", "share.version"} & set(names)


@pytest.mark.parametrize(
    ("features", "complaint"),
    [
        ({"nonsense": 1}, "Unsupported feature: nonsense"),
        ({"group.version": 9}, "No feature:group.version with feature level 9"),
        ({"metadata.version": 5}, "metadata.version with feature level 5"),
        ({"kraft.version": 0}, "Cannot set kraft.version to 0"),
        (
            {"metadata.version": 19, "eligible.leader.replicas.version": 1},
            "depends on metadata.version level 23",
        ),
    ],
)
def test_levels_that_cannot_be_are_refused(features: dict[str, int], complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        effective_levels(None, features, is_dynamic=True)


def test_a_release_is_named_once() -> None:
    with pytest.raises(FormatError, match="ambiguity"):
        effective_levels(LATEST, {"metadata.version": 30}, is_dynamic=True)
