"""CreateDelegationToken, RenewDelegationToken, ExpireDelegationToken (KIP-48, KIP-373, KIP-900).

A token speaks for its owner until it expires, which can be put off until its lifetime ends. What
it is proved by is an HMAC of its id, which is computed anew each time: the log holds none.

Not here: who may have a token for somebody else, and what a token may do (security).
"""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.view import View
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import DelegationTokenRecord, RemoveDelegationTokenRecord
from snakka.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from snakka.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from snakka.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from snakka.protocol.schema import replace
from snakka.protocol.types import format_uuid, random_uuid

_USER: Final = "User"
_MOMENT_MAX: Final = 2**63 - 1


class Principal(NamedTuple):
    """Who somebody is, as `User:alice` in the log."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """Kafka's names follow `delegation.token.`."""

    secret_key: str | None  # None: there are no tokens
    max_lifetime_ms: int
    expiry_time_ms: int


def token_hmac(secret_key: str, token_id: str) -> bytes:
    return hmac.digest(secret_key.encode(), token_id.encode(), hashlib.sha512)


def create_token(
    view: View,
    settings: TokenSettings,
    requester: Principal,
    request: CreateDelegationTokenRequest,
    random: Random,
    now_ms: int,
) -> Decision[CreateDelegationTokenResponse]:
    owner = requester
    if request.owner_principal_name:
        owner = Principal(request.owner_principal_type or _USER, request.owner_principal_name)
    try:
        secret_key = _secret_key(view, settings)
        if any(each.principal_type != _USER for each in request.renewers):
            raise RefusedError(ErrorCode.INVALID_PRINCIPAL_TYPE)
    except RefusedError as refused:
        return Decision(_created(refused.code, owner, requester))
    lifetime_ms = settings.max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_timestamp = _later(now_ms, lifetime_ms)
    token = DelegationTokenRecord(
        owner=str(owner),
        requester=str(requester),
        renewers=[str(Principal(_USER, each.principal_name)) for each in request.renewers],
        issue_timestamp=now_ms,
        max_timestamp=max_timestamp,
        expiration_timestamp=min(max_timestamp, _later(now_ms, settings.expiry_time_ms)),
        token_id=format_uuid(random_uuid(random)),
    )
    response = _created(ErrorCode.NONE, owner, requester, token, secret_key)
    return Decision(response, [token])


def renew_token(
    view: View,
    settings: TokenSettings,
    sender: Principal,
    request: RenewDelegationTokenRequest,
    now_ms: int,
) -> Decision[RenewDelegationTokenResponse]:
    try:
        token = _find(view, settings, request.hmac)
        _check_expired(token, now_ms)
        _check_sender(token, sender)
    except RefusedError as refused:
        return Decision(
            RenewDelegationTokenResponse(
                error_code=refused.code, expiry_timestamp_ms=0, throttle_time_ms=0
            )
        )
    period_ms = settings.expiry_time_ms
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    expires_at = min(token.max_timestamp, _later(now_ms, period_ms))
    response = RenewDelegationTokenResponse(
        error_code=ErrorCode.NONE, expiry_timestamp_ms=expires_at, throttle_time_ms=0
    )
    return Decision(response, [replace(token, expiration_timestamp=expires_at)])


def expire_token(
    view: View,
    settings: TokenSettings,
    sender: Principal,
    request: ExpireDelegationTokenRequest,
    now_ms: int,
) -> Decision[ExpireDelegationTokenResponse]:
    """At once with a negative period: also a token that has expired, and waits to be removed."""
    is_now = request.expiry_time_period_ms < 0
    try:
        token = _find(view, settings, request.hmac)
        _check_sender(token, sender)
        if not is_now:
            _check_expired(token, now_ms)
    except RefusedError as refused:
        return Decision(_expired(refused.code, 0))
    if is_now:
        record = RemoveDelegationTokenRecord(token_id=token.token_id)
        return Decision(_expired(ErrorCode.NONE, now_ms), [record])
    expires_at = min(token.max_timestamp, _later(now_ms, request.expiry_time_period_ms))
    changed = replace(token, expiration_timestamp=expires_at)
    return Decision(_expired(ErrorCode.NONE, expires_at), [changed])


def remove_expired_tokens(view: View, now_ms: int) -> Decision[bool]:
    """What the controller does of itself, from time to time."""
    return Decision(False, list(_removals(view, now_ms)))


def _removals(view: View, now_ms: int) -> Iterator[RemoveDelegationTokenRecord]:
    for token in view.image.delegation_tokens.values():
        if _has_expired(token, now_ms):
            yield RemoveDelegationTokenRecord(token_id=token.token_id)


def _secret_key(view: View, settings: TokenSettings) -> str:
    if settings.secret_key is None:
        raise RefusedError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    if not view.image.metadata_version.has_delegation_tokens:
        raise RefusedError(ErrorCode.UNSUPPORTED_VERSION)
    return settings.secret_key


def _find(view: View, settings: TokenSettings, given: bytes) -> DelegationTokenRecord:
    secret_key = _secret_key(view, settings)
    for token in view.image.delegation_tokens.values():
        if hmac.compare_digest(token_hmac(secret_key, token.token_id), given):
            return token
    raise RefusedError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)


def _check_sender(token: DelegationTokenRecord, sender: Principal) -> None:
    if str(sender) not in (token.owner, token.requester, *token.renewers):
        raise RefusedError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


def _check_expired(token: DelegationTokenRecord, now_ms: int) -> None:
    if _has_expired(token, now_ms):
        raise RefusedError(ErrorCode.DELEGATION_TOKEN_EXPIRED)


def _has_expired(token: DelegationTokenRecord, now_ms: int) -> bool:
    return min(token.max_timestamp, token.expiration_timestamp) < now_ms


def _later(now_ms: int, period_ms: int) -> int:
    return min(now_ms + period_ms, _MOMENT_MAX)


def _created(
    code: ErrorCode,
    owner: Principal,
    requester: Principal,
    token: DelegationTokenRecord | None = None,
    secret_key: str = "",
) -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
        issue_timestamp_ms=0 if token is None else token.issue_timestamp,
        expiry_timestamp_ms=0 if token is None else token.expiration_timestamp,
        max_timestamp_ms=0 if token is None else token.max_timestamp,
        token_id="" if token is None else token.token_id,
        hmac=b"" if token is None else token_hmac(secret_key, token.token_id),
        throttle_time_ms=0,
    )


def _expired(code: ErrorCode, expires_at: int) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(
        error_code=code, expiry_timestamp_ms=expires_at, throttle_time_ms=0
    )
