"""What a command gathers on its way to a decision."""

from collections.abc import Iterable
from typing import TypeVar

from snakka.coordinators.decision import Answer, Decision, Later, NewRecord
from snakka.coordinators.groups.classic.group import ClassicGroup
from snakka.coordinators.groups.classic.members import Member
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from snakka.protocol.messages.sync_group import SyncGroupResponse
from snakka.protocol.schema import Response

R = TypeVar("R")


class Outcome:
    """Records to write, and answers to earlier commands."""

    def __init__(self) -> None:
        self.records: list[NewRecord] = []
        self.answers: list[Answer] = []

    def answer(self, token: int | None, response: Response) -> None:
        """Answers who waits, if anybody does."""
        if token is not None:
            self.answers.append(Answer(token, response))

    def decide(self, response: R | Later) -> Decision[R]:
        return Decision(response, tuple(self.records), tuple(self.answers))


def refuse_join(error: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=error, protocol_name=None, leader="", member_id=member_id, members=[]
    )


def refuse_sync(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error, assignment=b"")


def joined(
    group: ClassicGroup,
    member: Member,
    *,
    members: Iterable[Member],
    leader: str | None = None,
    skip_assignment: bool = False,
) -> JoinGroupResponse:
    """The group's generation as one of its members is told; its leader is told of all `members`."""
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=leader or group.leader or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=each.member_id,
                group_instance_id=each.instance_id,
                metadata=each.metadata(group.protocol),
            )
            for each in members
        ],
    )


def generation_of(group: ClassicGroup, member: Member) -> JoinGroupResponse:
    """The generation as it is: only the leader hears of the others."""
    members = group.members if member.member_id == group.leader else ()
    return joined(group, member, members=members)


def synced(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=ErrorCode.NONE,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        assignment=assignment,
    )
