"""The `quorum-state` file: what a replica must not forget about an epoch.

JSON as Apache Kafka writes it, in its version 1 (KIP-853); version 0 is read too.
"""

import json
from typing import Final

from snakka.protocol.types import ZERO_UUID, format_uuid, parse_uuid
from snakka.quorum.election_state import ElectionState
from snakka.quorum.voters import ReplicaKey
from snakka.storage.disk import Disk, read_whole, replace_file
from snakka.storage.errors import CorruptFileError

QUORUM_STATE: Final = "quorum-state"
_VERSION: Final = 1
_NOBODY: Final = -1


def read_election(disk: Disk, path: str) -> ElectionState:
    """What the file says; the first epoch where there is none."""
    try:
        fields = json.loads(read_whole(disk, path))
    except FileNotFoundError:
        return ElectionState()
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from None
    try:
        return ElectionState(
            epoch=fields["leaderEpoch"],
            leader_id=None if fields["leaderId"] == _NOBODY else fields["leaderId"],
            voted=_voted(fields),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptFileError(path, f"{type(error).__name__}: {error}") from None


def write_election(disk: Disk, path: str, election: ElectionState) -> None:
    """Durably."""
    voted = election.voted or ReplicaKey(_NOBODY)
    fields = {
        "leaderId": _NOBODY if election.leader_id is None else election.leader_id,
        "leaderEpoch": election.epoch,
        "votedId": voted.id,
        "votedDirectoryId": format_uuid(voted.directory_id),
        "data_version": _VERSION,
    }
    replace_file(disk, path, json.dumps(fields, separators=(",", ":")).encode())


def _voted(fields: dict[str, object]) -> ReplicaKey | None:
    voted_id = fields["votedId"]
    if not isinstance(voted_id, int) or voted_id == _NOBODY:
        return None
    directory = fields.get("votedDirectoryId")
    return ReplicaKey(voted_id, parse_uuid(str(directory)) if directory else ZERO_UUID)
