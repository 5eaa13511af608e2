"""Who asks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client of a request, and the version of the API that it speaks."""

    client_id: str
    host: str
    api_version: int
