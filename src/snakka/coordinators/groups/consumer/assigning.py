"""Who is to have which partitions: the assignors `uniform` and `range`. Pure.

Both are functions of the members, what they want, and what each was to have before.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from snakka.coordinators.groups.consumer.member import Partition, Partitions
from snakka.protocol.types import Uuid


class Subscriber(NamedTuple):
    """A member as an assignor sees it."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[Uuid]
    before: Partitions


Targets: TypeAlias = dict[str, Partitions]
Assignor: TypeAlias = Callable[[Sequence[Subscriber], Mapping[Uuid, int]], Targets]


def assign_range(subscribers: Sequence[Subscriber], counts: Mapping[Uuid, int]) -> Targets:
    """A run of each topic's partitions for each of its subscribers, so that equal keys meet.

    Subscribers stand in the same order for all topics: static members first, by instance.
    """
    ordered = sorted(subscribers, key=_order)
    targets: dict[str, set[Partition]] = {each.member_id: set() for each in ordered}
    for topic_id, count in counts.items():
        takers = [each for each in ordered if topic_id in each.topic_ids]
        start = 0
        for position, taker in enumerate(takers):
            size = count // len(takers) + (position < count % len(takers))
            run = range(start, start + size)
            targets[taker.member_id].update(Partition(topic_id, index) for index in run)
            start += size
    return {member_id: frozenset(each) for member_id, each in targets.items()}


def _order(subscriber: Subscriber) -> tuple[bool, str]:
    instance_id = subscriber.instance_id
    return instance_id is None, instance_id or subscriber.member_id


def assign_uniform(subscribers: Sequence[Subscriber], counts: Mapping[Uuid, int]) -> Targets:
    """As even as subscriptions allow; what need not move stays where it was."""
    targets: dict[str, set[Partition]] = {}
    taken: set[Partition] = set()
    for each in subscribers:
        kept = {p for p in each.before if p.topic_id in each.topic_ids and p not in taken}
        kept = {p for p in kept if p.partition < counts.get(p.topic_id, 0)}
        taken |= kept
        targets[each.member_id] = kept
    takers = _takers(subscribers, counts)
    for topic_id, count in counts.items():
        for index in range(count):
            partition = Partition(topic_id, index)
            if partition not in taken and takers[topic_id]:
                targets[_least_loaded(takers[topic_id], targets)].add(partition)
    _level(targets, takers)
    return {member_id: frozenset(each) for member_id, each in targets.items()}


def _takers(subscribers: Sequence[Subscriber], counts: Mapping[Uuid, int]) -> dict[Uuid, list[str]]:
    ordered = sorted(subscribers, key=_order)
    return {
        topic_id: [each.member_id for each in ordered if topic_id in each.topic_ids]
        for topic_id in counts
    }


def _least_loaded(member_ids: Sequence[str], targets: Mapping[str, set[Partition]]) -> str:
    return min(member_ids, key=lambda each: len(targets[each]))


def _level(targets: dict[str, set[Partition]], takers: Mapping[Uuid, list[str]]) -> None:
    """Moves partitions from who has most to who has least, until no move makes it more even."""
    has_moved = True
    while has_moved:
        has_moved = False
        for giver in sorted(targets, key=lambda each: -len(targets[each])):
            for partition in sorted(targets[giver]):
                taker = _least_loaded(takers[partition.topic_id], targets)
                if len(targets[taker]) + 1 < len(targets[giver]):
                    targets[giver].remove(partition)
                    targets[taker].add(partition)
                    has_moved = True


ASSIGNORS: Final[Mapping[str, Assignor]] = MappingProxyType(
    {"uniform": assign_uniform, "range": assign_range}
)


def preferred_assignor(wishes: Iterable[str | None], default: str) -> str:
    """The one that most members ask for."""
    votes = [each for each in wishes if each is not None]
    return max(sorted(set(votes)), key=votes.count, default=default)
