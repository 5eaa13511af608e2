"""Every error code, its message and what a client may do about it, against Kafka's own list."""

import json

from snakka.protocol.error_codes import ErrorCode
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram


def test_error_codes_are_kafkas() -> None:
    with JavaProgram(JAVA_SOURCES / "ErrorCodes.java") as java:
        theirs = json.loads(java.ask("all"))
    ours = [
        [code.value, code.name, code.message, code.is_retriable, code.means_stale_metadata]
        for code in ErrorCode
    ]
    assert ours == theirs
