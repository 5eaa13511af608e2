"""Majorities: the arithmetic that every promise of the quorum rests on. Knows nothing of Kafka.

Two majorities of one set share a member, and so do majorities of two sets that differ by one
member. Votes and commits both count on that.
"""

from collections.abc import Collection, Hashable


def majority_size(member_count: int) -> int:
    """How many of `member_count` are more than half."""
    return member_count // 2 + 1


def has_majority(members: Collection[Hashable], agreeing: Collection[Hashable]) -> bool:
    """Whether more than half of the members agree. Those who are not members do not count."""
    return sum(member in agreeing for member in members) >= majority_size(len(members))


def is_majority_lost(members: Collection[Hashable], refusing: Collection[Hashable]) -> bool:
    """Whether so many members refuse that the others are no majority any more."""
    left = sum(member not in refusing for member in members)
    return left < majority_size(len(members))


def replicated_offset(end_offsets: Collection[int]) -> int:
    """The highest offset that a majority of the logs, given by their ends, has reached."""
    return sorted(end_offsets, reverse=True)[majority_size(len(end_offsets)) - 1]
