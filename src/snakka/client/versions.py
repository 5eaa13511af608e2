"""Which version of a request both sides know (KIP-35, KIP-511)."""

from collections.abc import Mapping
from typing import Final

from snakka import __version__
from snakka.client.errors import UnsupportedRequestError
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.schema import Request, Versions

OLDEST: Final = 0  # of ApiVersions: what a node answers in that does not serve our version
_ERROR: Final = slice(4, 6)  # of an answer to ApiVersions, whose header is of the first version
_UNSUPPORTED: Final = int(ErrorCode.UNSUPPORTED_VERSION).to_bytes(2)


def api_versions_request() -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="snakka", client_software_version=__version__)


def is_version_refusal(frame: memoryview) -> bool:
    """Whether the frame of an ApiVersionsResponse is in version 0 whatever was asked for."""
    return frame[_ERROR] == _UNSUPPORTED


class NegotiatedVersions:
    """What a node serves, against what is declared here."""

    def __init__(self, answer: ApiVersionsResponse) -> None:
        self._served: Mapping[int, Versions] = {
            each.api_key: Versions(each.min_version, each.max_version) for each in answer.api_keys
        }
        self.features: Mapping[str, int] = {
            each.name: each.max_version_level for each in answer.finalized_features
        }

    def highest(self, request: type[Request]) -> int:
        """The version to speak; those not yet stable are only ever asked for by number."""
        served = self._served.get(request.KEY)
        if served is None:
            raise UnsupportedRequestError(f"the node does not serve {ApiKey(request.KEY).name}")
        highest = min(served.last, request.STABLE.last)
        if highest < max(served.first, request.STABLE.first):
            raise UnsupportedRequestError(
                f"the node serves {ApiKey(request.KEY).name} in versions {served.first} to"
                f" {served.last}, and {request.STABLE.first} to {request.STABLE.last} are known"
            )
        return highest
