"""AlterUserScramCredentials (KIP-554): credentials are set and removed.

What comes is the salted password, and what is kept are the two keys made of it (RFC 5802): who
reads the metadata log can check a password, but cannot log in with what it read.

Not here: logging in (security/).
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.view import View
from snakka.metadata.keys import ScramKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from snakka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

MECHANISMS: Final[Mapping[int, str]] = MappingProxyType({1: "sha256", 2: "sha512"})
ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384

_Alteration: TypeAlias = ScramCredentialDeletion | ScramCredentialUpsertion


def alter_scram_credentials(
    view: View, request: AlterUserScramCredentialsRequest
) -> Decision[AlterUserScramCredentialsResponse]:
    asked: list[_Alteration] = [*request.deletions, *request.upsertions]
    times = Counter(each.name for each in asked)
    records: list[MetadataRecord] = []
    results = []
    for each in {each.name: each for each in asked}.values():
        code, message = ErrorCode.NONE, None
        try:
            if times[each.name] > 1:
                raise RefusedError(
                    ErrorCode.DUPLICATE_RESOURCE,
                    "A user credential cannot be altered twice in the same request",
                )
            records.append(_record(view, each))
        except RefusedError as refused:
            code, message = refused.code, refused.message
        results.append(
            AlterUserScramCredentialsResult(user=each.name, error_code=code, error_message=message)
        )
    response = AlterUserScramCredentialsResponse(throttle_time_ms=0, results=results)
    return Decision(response, records)


def _record(view: View, asked: _Alteration) -> MetadataRecord:
    if not view.image.metadata_version.has_scram:
        raise RefusedError(
            ErrorCode.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM"
        )
    if not asked.name:
        raise RefusedError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if asked.mechanism not in MECHANISMS:
        raise RefusedError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(asked, ScramCredentialUpsertion):
        return scram_credential(asked)
    if ScramKey(asked.name, asked.mechanism) not in view.image.scram:
        raise RefusedError(
            ErrorCode.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        )
    return RemoveUserScramCredentialRecord(name=asked.name, mechanism=asked.mechanism)


def scram_credential(asked: ScramCredentialUpsertion) -> UserScramCredentialRecord:
    """What is kept of a credential; RefusedError where Kafka takes no such one."""
    if asked.iterations < ITERATIONS_MIN:
        raise RefusedError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if asked.iterations > ITERATIONS_MAX:
        raise RefusedError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    algorithm = MECHANISMS[asked.mechanism]
    client_key = hmac.digest(asked.salted_password, b"Client Key", algorithm)
    return UserScramCredentialRecord(
        name=asked.name,
        mechanism=asked.mechanism,
        salt=asked.salt,
        stored_key=hashlib.new(algorithm, client_key).digest(),
        server_key=hmac.digest(asked.salted_password, b"Server Key", algorithm),
        iterations=asked.iterations,
    )
