"""One step of a member towards its target. Pure.

A partition goes to its new owner only when the old one has said that it gave it up: revocation
before assignment. A member stays in its epoch until it has given up everything it has to.
"""

from collections.abc import Callable
from dataclasses import replace

from snakka.coordinators.groups.consumer.member import (
    NO_PARTITIONS,
    Member,
    MemberState,
    Partition,
    Partitions,
)


def reconcile(
    member: Member,
    target: Partitions,
    target_epoch: int,
    is_held: Callable[[Partition], bool],
    owned: Partitions | None,
) -> Member:
    """The member after this heartbeat, in which it said to own `owned`, or nothing about that."""
    if member.is_reconciled_to(target_epoch):
        return member
    epoch = member.epoch
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if owned is None or owned & member.revoking:
            return member
        epoch += 1
    kept = member.assigned & target
    revoking = member.assigned - target
    if revoking and (owned is None or owned & revoking):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            epoch=epoch,
            previous_epoch=member.epoch,
            assigned=kept,
            revoking=revoking,
        )
    return _give(replace(member, assigned=kept), target, target_epoch, is_held)


def _give(
    member: Member, target: Partitions, target_epoch: int, is_held: Callable[[Partition], bool]
) -> Member:
    """A member that has nothing to give up gets what is free of what it is to have."""
    wanted = target - member.assigned
    free = frozenset(each for each in wanted if not is_held(each))
    is_complete = free == wanted
    return replace(
        member,
        state=MemberState.STABLE if is_complete else MemberState.UNRELEASED_PARTITIONS,
        epoch=target_epoch,
        previous_epoch=member.epoch,
        assigned=member.assigned | free,
        revoking=NO_PARTITIONS,
    )
