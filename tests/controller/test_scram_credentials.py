import base64
import hashlib
import hmac

import pytest

from snakka.controller.scram_credentials import alter_scram_credentials
from snakka.metadata.keys import ScramKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import FeatureLevelRecord
from snakka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from tests.controller.making import Cluster


def upsertion(
    name: str = "user", *, mechanism: int = 1, iterations: int = 4_096
) -> ScramCredentialUpsertion:
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4_096)
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=salt, salted_password=salted
    )


def deletion(name: str = "user", mechanism: int = 1) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


def alter(
    cluster: Cluster, *asked: ScramCredentialDeletion | ScramCredentialUpsertion
) -> list[tuple[str, int, str | None]]:
    request = AlterUserScramCredentialsRequest(
        deletions=[each for each in asked if isinstance(each, ScramCredentialDeletion)],
        upsertions=[each for each in asked if isinstance(each, ScramCredentialUpsertion)],
    )
    response = cluster.decide(alter_scram_credentials(cluster.view, request))
    return [(each.user, each.error_code, each.error_message) for each in response.results]


def test_a_credential_holds_the_keys_of_the_password_and_not_the_password() -> None:
    # The user, password and salt of the example in RFC 7677, and the signature it ends with.
    cluster = Cluster()
    assert alter(cluster, upsertion()) == [("user", 0, None)]
    credential = cluster.view.image.scram[ScramKey("user", 1)]
    message = (
        b"n=user,r=rOprNGfwEbeRWgbNEkqO,"
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    )
    signature = hmac.digest(credential.server_key, message, "sha256")
    assert base64.b64encode(signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    client_signature = hmac.digest(credential.stored_key, message, "sha256")
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    client_key = bytes(a ^ b for a, b in zip(proof, client_signature, strict=True))
    assert hashlib.sha256(client_key).digest() == credential.stored_key


def test_a_credential_is_removed() -> None:
    cluster = Cluster()
    alter(cluster, upsertion())
    assert alter(cluster, deletion()) == [("user", 0, None)]
    assert not cluster.view.image.scram


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (upsertion(iterations=4_095), 93, "Too few iterations"),
        (upsertion(iterations=16_385), 93, "Too many iterations"),
        (upsertion(""), 93, "Username must not be empty"),
        (upsertion(mechanism=3), 33, "Unknown SCRAM mechanism"),
        (deletion(), 91, "Attempt to delete a user credential that does not exist"),
    ],
)
def test_refused(
    asked: ScramCredentialDeletion | ScramCredentialUpsertion, code: int, message: str
) -> None:
    cluster = Cluster()
    assert alter(cluster, asked) == [(asked.name, code, message)]


def test_a_user_is_altered_once_in_a_request() -> None:
    cluster = Cluster()
    results = alter(cluster, upsertion(), upsertion(), upsertion("other"))
    assert [(user, code) for user, code, _ in results] == [
        ("user", ErrorCode.DUPLICATE_RESOURCE),
        ("other", ErrorCode.NONE),
    ]


def test_an_old_log_cannot_hold_credentials() -> None:
    cluster = Cluster(FeatureLevelRecord(name="metadata.version", feature_level=10))
    assert alter(cluster, upsertion())[0][1] == ErrorCode.UNSUPPORTED_VERSION
