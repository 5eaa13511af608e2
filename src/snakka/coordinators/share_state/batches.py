"""Batches of offsets with how they were delivered, put together so that none overlap. Pure.

An offset in several batches was delivered as the one says that has gone furthest: the highest
count, and among equal counts the highest state. Neighbours that agree become one batch.
"""

import heapq
from collections.abc import Iterable
from typing import Final, NamedTuple

UNKNOWN_OFFSET: Final = -1


class DeliveryBatch(NamedTuple):
    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


def combine(batches: Iterable[DeliveryBatch], start_offset: int) -> tuple[DeliveryBatch, ...]:
    """In order, without what lies before `start_offset`, unless that is UNKNOWN_OFFSET."""
    todo = sorted(_from(start_offset, batches))
    # Those that hold the current offset, the one that counts first; a heap has the least on top.
    open_: list[tuple[int, int, int]] = []
    combined: list[DeliveryBatch] = []
    position, taken = 0, 0
    while open_ or taken < len(todo):
        if not open_:
            position = todo[taken].first_offset
        while taken < len(todo) and todo[taken].first_offset <= position:
            each = todo[taken]
            heapq.heappush(open_, (-each.delivery_count, -each.delivery_state, each.last_offset))
            taken += 1
        count, state, last_offset = open_[0]
        if last_offset < position:
            heapq.heappop(open_)
            continue
        if taken < len(todo):
            last_offset = min(last_offset, todo[taken].first_offset - 1)
        _add(combined, DeliveryBatch(position, last_offset, -state, -count))
        position = last_offset + 1
    return tuple(combined)


def _from(start_offset: int, batches: Iterable[DeliveryBatch]) -> Iterable[DeliveryBatch]:
    for each in batches:
        if start_offset == UNKNOWN_OFFSET or each.first_offset >= start_offset:
            yield each
        elif each.last_offset >= start_offset:
            yield each._replace(first_offset=start_offset)


def _add(combined: list[DeliveryBatch], batch: DeliveryBatch) -> None:
    if combined:
        last = combined[-1]
        if last.last_offset + 1 == batch.first_offset and last[2:] == batch[2:]:
            combined[-1] = last._replace(last_offset=batch.last_offset)
            return
    combined.append(batch)
