"""What an application of the sink has committed, and whether a write is yet to be done. Pure.

A version is kept as a group's offset, a state as the text that goes with one: both are part of the
transaction that makes the records visible. Not here: the transaction (committing.py).
"""

from dataclasses import dataclass
from typing import Final

from snakka.client.offsets import CommittedOffset
from snakka.pipeline.errors import StaleStateError

NONE_COMMITTED: Final = -1


@dataclass(frozen=True, slots=True)
class Numbered:
    """A version that is written unless it, or a later one, is there."""

    number: int

    def is_done(self, noted: CommittedOffset | None) -> bool:
        return noted is not None and noted.offset >= self.number

    def note(self, noted: CommittedOffset | None) -> CommittedOffset:
        return CommittedOffset(self.number)


@dataclass(frozen=True, slots=True)
class Transition:
    """From one state to the next; a write that began at another state is refused."""

    previous: str
    state: str

    def is_done(self, noted: CommittedOffset | None) -> bool:
        found = "" if noted is None else noted.metadata
        if found == self.state:
            return True
        if found != self.previous:
            raise StaleStateError(self.previous, found)
        return False

    def note(self, noted: CommittedOffset | None) -> CommittedOffset:
        before = NONE_COMMITTED if noted is None else noted.offset
        return CommittedOffset(before + 1, metadata=self.state)


Version = Numbered | Transition
