"""Offsets of groups from a cluster to its mirror.

A copy's headers say which offset its record had, and copies of a partition are in order: so where
a group goes on is found by halving. It is the first copy of a record that the group has not read.
A group that has members on the mirror is left alone: it has moved there.
"""

import logging
from collections.abc import Sequence
from typing import Final

from snakka.client.committed import commit_offsets, fetch_offsets
from snakka.client.errors import ClientError
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.records import TopicPartition
from snakka.pipeline.broker import find_offsets
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread, connect
from snakka.pipeline.declared.headers import PREFIX
from snakka.pipeline.fetching import FETCH_BYTES_MIN, ReadRules, fetch
from snakka.pipeline.offsets import EARLIEST, LATEST, At, Offsets
from snakka.protocol.records.record import Header

_LOG: Final = logging.getLogger(__name__)

_RULES: Final = ReadRules()
_OFFSET_HEADER: Final = f"{PREFIX}offset"


class GroupTranslator:
    """Some groups, which follow the mirror."""

    def __init__(
        self, source: ClusterAddress, target: ClusterAddress, groups: Sequence[str]
    ) -> None:
        self._source = source
        self._target = target
        self._groups = groups
        self._known: dict[str, Offsets] = {}  # what was translated last

    def follow(self, mirrored: Offsets) -> None:
        """Brings the groups to where they are on the source, as far as that is mirrored."""
        for group in self._groups:
            try:
                self._follow(GroupMember(group), mirrored)
            except ClientError as error:
                _LOG.warning("offsets of group %s: %s", group, error)

    def _follow(self, member: GroupMember, mirrored: Offsets) -> None:
        source, target = connect(self._source), connect(self._target)
        work = fetch_offsets(source.cluster, member, mirrored, require_stable=False)
        committed = source.run(work)
        offsets = {where: min(each.offset, mirrored[where]) for where, each in committed.items()}
        known = self._known.get(member.group_id, {})
        moved = {where: offset for where, offset in offsets.items() if known.get(where) != offset}
        if not moved:
            return
        translated = {
            where: CommittedOffset(
                translate(target, where, offset), metadata=committed[where].metadata
            )
            for where, offset in moved.items()
        }
        target.run(commit_offsets(target.cluster, member, translated))
        self._known[member.group_id] = {**known, **moved}


def translate(target: ClusterThread, where: TopicPartition, offset: int) -> int:
    """The offset of the first copy of a record from `offset` on; the end where there is none."""
    first, end = (
        target.run(find_offsets(target.cluster, {where: At(each)}, is_read_committed=True))[where]
        for each in (EARLIEST, LATEST)
    )
    while first < end:
        middle = (first + end) // 2
        found = target.run(_first_copy(target, where, middle, end))
        if found is None or found[1] >= offset:
            end = middle
        else:
            first = found[0] + 1
    return first


async def _first_copy(
    target: ClusterThread, where: TopicPartition, position: int, end: int
) -> tuple[int, int] | None:
    """The offset of the first copy from a position on, and that of its record."""
    while position < end:
        for batch, is_visible in await fetch(
            target.cluster, where, position, FETCH_BYTES_MIN, _RULES
        ):
            if is_visible:
                for record in batch.records():
                    source_offset = _source_offset(record.headers)
                    if record.offset >= position and source_offset is not None:
                        return record.offset, source_offset
            position = max(position, batch.header.next_offset)
    return None


def _source_offset(headers: Sequence[Header]) -> int | None:
    for name, value in reversed(headers):
        if name == _OFFSET_HEADER and value is not None:
            return int(value)
    return None
