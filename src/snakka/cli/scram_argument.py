"""A SCRAM credential as `kafka-storage format --add-scram` takes it.

`SCRAM-SHA-256=[name=alice,password=secret]`, or with `iterations`, `salt` and `saltedpassword`,
the latter two in base64.
"""

import base64
import binascii
import hashlib
import secrets
from typing import Final

from snakka.controller.decision import RefusedError
from snakka.controller.scram_credentials import MECHANISMS, scram_credential
from snakka.metadata.bootstrap import FormatError
from snakka.protocol.internal.metadata import UserScramCredentialRecord
from snakka.protocol.messages.alter_user_scram_credentials import ScramCredentialUpsertion

_NAMES: Final = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
_PARTS: Final = frozenset({"name", "password", "salt", "iterations", "saltedpassword"})
_ITERATIONS: Final = 4096
_SALT_BYTES: Final = 25


def read_scram(argument: str) -> UserScramCredentialRecord:
    mechanism, parts = _split(argument.strip())
    if "name" not in parts:
        raise FormatError("You must supply 'name' to add-scram")
    try:
        iterations = int(parts.get("iterations", _ITERATIONS))
    except ValueError:
        raise FormatError(f"Failed to parse iterations count: {parts['iterations']}") from None
    given = _decoded(parts, "salt")
    salt = secrets.token_bytes(_SALT_BYTES) if given is None else given
    if "password" in parts:
        password = parts["password"].encode()
        salted = hashlib.pbkdf2_hmac(MECHANISMS[mechanism], password, salt, iterations)
    else:
        found = _decoded(parts, "saltedpassword")
        if found is None:
            raise FormatError("You must supply one of 'password' or 'saltedpassword' to add-scram")
        if given is None:
            raise FormatError("You must supply 'salt' with 'saltedpassword' to add-scram")
        salted = found
    asked = ScramCredentialUpsertion(
        name=parts["name"],
        mechanism=mechanism,
        iterations=iterations,
        salt=salt,
        salted_password=salted,
    )
    try:
        return scram_credential(asked)
    except RefusedError as refused:
        raise FormatError(f"{refused.message} for add-scram: {iterations}") from None


def _split(argument: str) -> tuple[int, dict[str, str]]:
    name, equals, text = argument.partition("=")
    if not equals:
        raise FormatError(f"Failed to find equals sign in SCRAM argument '{argument}'")
    if name not in _NAMES:
        raise FormatError(f"The add-scram mechanism {name} is not supported.")
    if not text.startswith("[") or not text.endswith("]"):
        raise FormatError("Expected configuration string to start with [ and to end with ]")
    parts = {}
    for part in text[1:-1].split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise FormatError(f"No equals sign found in SCRAM component: {part}")
        is_quoted = len(value) >= 2 and value[0] == value[-1] == '"'
        parts[key] = value[1:-1] if is_quoted else value
    if unknown := parts.keys() - _PARTS:
        raise FormatError(f"Unknown SCRAM configurations: {', '.join(sorted(unknown))}")
    return _NAMES[name], parts


def _decoded(parts: dict[str, str], key: str) -> bytes | None:
    if key not in parts:
        return None
    try:
        return base64.b64decode(parts[key], validate=True)
    except binascii.Error:
        raise FormatError(f"Failed to decode given {key}: {parts[key]}") from None
