"""What a client can be told, under the names that Kafka's own clients have for it.

Not here: what only a producer or a consumer has.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What all connections of a client share."""

    client_id: str = "snakka"
    socket_connection_setup_timeout_ms: int = 10_000
    request_timeout_ms: int = 30_000  # after it a connection is given up: answers come in order
    default_api_timeout_ms: int = 60_000  # for a call with all of its retries
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    metadata_max_age_ms: int = 300_000
    receive_message_max_bytes: int = 128 * 1024 * 1024  # one answer


DEFAULT_SETTINGS = ClientSettings()
