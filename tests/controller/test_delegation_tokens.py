"""Tokens that speak for their owner: created, renewed, expired, and removed."""

from dataclasses import replace

import pytest

from snakka.controller.delegation_tokens import (
    Principal,
    TokenSettings,
    create_token,
    expire_token,
    remove_expired_tokens,
    renew_token,
    token_hmac,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import FeatureLevelRecord
from snakka.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from snakka.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from snakka.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.controller.making import NOW_MS, Cluster

ALICE, BOB, EVE = (Principal("User", name) for name in ("alice", "bob", "eve"))
SETTINGS = TokenSettings("secret", max_lifetime_ms=1_000, expiry_time_ms=100)


def create(
    cluster: Cluster,
    *,
    owner: str | None = None,
    renewer: Principal = BOB,
    max_lifetime_ms: int = -1,
    settings: TokenSettings = SETTINGS,
) -> CreateDelegationTokenResponse:
    asked = CreateDelegationTokenRequest(
        owner_principal_type="User" if owner else None,
        owner_principal_name=owner,
        renewers=[CreatableRenewers(principal_type=renewer.type, principal_name=renewer.name)],
        max_lifetime_ms=max_lifetime_ms,
    )
    return cluster.decide(
        create_token(cluster.view, settings, ALICE, asked, cluster.random, NOW_MS)
    )


def renew(
    cluster: Cluster,
    hmac: bytes,
    period_ms: int = -1,
    *,
    sender: Principal = ALICE,
    now_ms: int = NOW_MS,
    settings: TokenSettings = SETTINGS,
) -> tuple[int, int]:
    asked = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
    answer = cluster.decide(renew_token(cluster.view, settings, sender, asked, now_ms))
    return answer.error_code, answer.expiry_timestamp_ms


def expire(
    cluster: Cluster,
    hmac: bytes,
    period_ms: int = -1,
    *,
    sender: Principal = ALICE,
    now_ms: int = NOW_MS,
) -> tuple[int, int]:
    asked = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms)
    answer = cluster.decide(expire_token(cluster.view, SETTINGS, sender, asked, now_ms))
    return answer.error_code, answer.expiry_timestamp_ms


def test_a_token_is_its_requesters_and_is_proved_by_its_hmac() -> None:
    cluster = Cluster()
    made = create(cluster)
    assert (made.error_code, made.principal_name) == (0, "alice")
    assert (made.issue_timestamp_ms, made.expiry_timestamp_ms) == (NOW_MS, NOW_MS + 100)
    assert made.max_timestamp_ms == NOW_MS + 1_000
    assert made.hmac == token_hmac("secret", made.token_id)
    token = cluster.view.image.delegation_tokens[made.token_id]
    assert (token.owner, token.requester, token.renewers) == (
        "User:alice",
        "User:alice",
        ["User:bob"],
    )
    cluster.check()


def test_a_token_may_be_for_somebody_else_and_live_shorter() -> None:
    cluster = Cluster()
    made = create(cluster, owner="carol", max_lifetime_ms=50)
    assert (made.principal_name, made.token_requester_principal_name) == ("carol", "alice")
    assert made.max_timestamp_ms == made.expiry_timestamp_ms == NOW_MS + 50
    assert create(cluster, max_lifetime_ms=5_000).max_timestamp_ms == NOW_MS + 1_000


@pytest.mark.parametrize("sender", [ALICE, BOB, Principal("User", "carol")])
def test_owner_requester_and_renewers_put_off_its_end_but_not_beyond_its_life(
    sender: Principal,
) -> None:
    cluster = Cluster()
    made = create(cluster, owner="carol")
    assert renew(cluster, made.hmac, 30, sender=sender) == (0, NOW_MS + 30)
    assert renew(cluster, made.hmac, 500, sender=sender, now_ms=NOW_MS + 30) == (0, NOW_MS + 130)
    for now_ms in range(NOW_MS + 100, NOW_MS + 1_000, 100):
        assert renew(cluster, made.hmac, sender=sender, now_ms=now_ms) == (0, now_ms + 100)
    assert renew(cluster, made.hmac, now_ms=NOW_MS + 950) == (0, NOW_MS + 1_000)
    found = cluster.view.image.delegation_tokens[made.token_id]
    assert found.expiration_timestamp == NOW_MS + 1_000


def test_a_token_ends_sooner_or_at_once() -> None:
    cluster = Cluster()
    made = create(cluster)
    assert expire(cluster, made.hmac, 20) == (0, NOW_MS + 20)
    late = NOW_MS + 21
    assert expire(cluster, made.hmac, 20, now_ms=late) == (ErrorCode.DELEGATION_TOKEN_EXPIRED, 0)
    assert expire(cluster, made.hmac, now_ms=late) == (0, late)
    assert not cluster.view.image.delegation_tokens


def test_expired_tokens_are_removed_from_time_to_time() -> None:
    cluster = Cluster()
    made, other = create(cluster), create(cluster)
    renew(cluster, other.hmac, now_ms=NOW_MS + 50)
    for now_ms, left in (
        (NOW_MS + 100, {made.token_id, other.token_id}),
        (NOW_MS + 101, {other.token_id}),
        (NOW_MS + 151, set()),
    ):
        assert cluster.decide(remove_expired_tokens(cluster.view, now_ms)) is False
        assert set(cluster.view.image.delegation_tokens) == left


class TestRefuses:
    def test_what_is_not_there(self) -> None:
        cluster = Cluster()
        create(cluster)
        missing = (ErrorCode.DELEGATION_TOKEN_NOT_FOUND, 0)
        for hmac in (b"", b"x" * 64):
            assert renew(cluster, hmac) == missing
            assert expire(cluster, hmac) == missing

    def test_strangers(self) -> None:
        cluster = Cluster()
        made = create(cluster)
        mismatch = (ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, 0)
        for sender in (EVE, Principal("Group", "alice")):
            assert renew(cluster, made.hmac, sender=sender) == mismatch
            assert expire(cluster, made.hmac, sender=sender) == mismatch

    def test_renewing_what_has_expired(self) -> None:
        cluster = Cluster()
        made = create(cluster)
        late = NOW_MS + 101
        expired = (ErrorCode.DELEGATION_TOKEN_EXPIRED, 0)
        assert renew(cluster, made.hmac, now_ms=late) == expired
        assert renew(cluster, made.hmac, now_ms=late, sender=EVE) == expired

    def test_renewers_that_are_no_users(self) -> None:
        made = create(Cluster(), renewer=Principal("Group", "staff"))
        assert made.error_code == ErrorCode.INVALID_PRINCIPAL_TYPE

    def test_all_without_a_secret_key(self) -> None:
        cluster, disabled = Cluster(), replace(SETTINGS, secret_key=None)
        made = create(cluster, settings=disabled)
        assert made.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        assert renew(cluster, b"", settings=disabled)[0] == made.error_code

    def test_all_in_a_log_too_old_to_hold_them(self) -> None:
        cluster = Cluster(FeatureLevelRecord(name="metadata.version", feature_level=13))
        assert create(cluster).error_code == ErrorCode.UNSUPPORTED_VERSION
        assert not cluster.view.image.delegation_tokens
