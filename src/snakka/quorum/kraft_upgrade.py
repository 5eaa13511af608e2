"""kraft.version from 0 to 1: the voters that are configured go into the log (KIP-853).

With version 0 nobody writes down who the voters are beside their ids and addresses, so each tells
every new leader (roles/follower.py): its directory, its endpoints, and the versions it supports.
Once all have, the leader can write version and voters, and goes by them at once, as with any set.

Not here: who asks for it (controller/features.py), changes of one voter (reconfiguration.py).
"""

from typing import Final

from snakka.protocol.error_codes import ErrorCode
from snakka.quorum.control_records import control_batch, kraft_version_record, voters_record
from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Leader
from snakka.quorum.transitions import check_quorum_timeout_ms
from snakka.quorum.voters import Voter, VoterSet

_FEATURE: Final = "kraft.version"


class KraftUpgradeError(ValueError):
    """Why the level cannot be another one, in Kafka's words."""


def note_configured_voter(quorum: Quorum, leader: Leader, voter: Voter) -> ErrorCode:
    """A configured voter has told of itself; soft, until the version rises."""
    if not quorum.is_committed(leader.epoch_start_offset):
        return ErrorCode.REQUEST_TIMED_OUT
    if not quorum.voters.has_voter(voter.key):
        return ErrorCode.VOTER_NOT_FOUND
    leader.told[voter.key.id] = voter
    return ErrorCode.NONE


def find_upgraded_voters(quorum: Quorum, leader: Leader, version: int) -> VoterSet | None:
    """The voters as the log is to have them; None where it is of that version already."""
    current = quorum.history.kraft_version
    if version == current:
        return None
    if version < current:
        raise KraftUpgradeError(
            f"Invalid upgrade of {_FEATURE} from version {_name(current)} to {_name(version)}"
            " because the new version is a downgrade"
        )
    told = {**leader.told, quorum.local.key.id: quorum.local.voter}
    voters = [told.get(each.key.id, each) for each in quorum.voters.voters]
    if not all(version in each.kraft_versions for each in voters):
        raise KraftUpgradeError(
            f"Invalid upgrade of {_FEATURE} to {_name(version)} because not all of the voters"
            " support it"
        )
    return VoterSet.of(voters)


def upgrade(quorum: Quorum, leader: Leader, version: int, now_ms: int) -> None:
    voters = find_upgraded_voters(quorum, leader, version)
    if voters is None:
        return
    quorum.append(
        control_batch(
            [kraft_version_record(version), voters_record(voters)],
            base_offset=quorum.log.end.offset,
            epoch=quorum.epoch,
            timestamp_ms=now_ms,
        )
    )
    leader.replicas.follow(voters)
    leader.fetched.clear()
    leader.check_quorum_deadline_ms = now_ms + check_quorum_timeout_ms(quorum)


def _name(version: int) -> str:
    return f"KRAFT_VERSION_{version}"
