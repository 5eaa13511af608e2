"""How far a consumer is in one partition. Pure.

What is fetched runs ahead of what is handed out. A seek begins a new generation: what was fetched
before belongs to the old one and is passed over. A generation is told by identity alone.
"""

from dataclasses import dataclass, field
from enum import Enum, auto


class Placement(Enum):
    """Where to begin: decided, at the group's position, or at the end that settings name."""

    PLACED = auto()
    COMMITTED = auto()
    RESET = auto()


@dataclass(slots=True)
class Reading:
    """`position` is the next offset to hand out, and `fetch_offset` the next to ask for."""

    placement: Placement = Placement.COMMITTED
    position: int = -1
    fetch_offset: int = -1
    leader_epoch: int = -1  # of the last batch that was handed out
    generation: object = field(default_factory=object)
    is_paused: bool = False
    failures: int = 0
    retry_at_s: float = 0.0
    high_watermark: int = -1
    last_stable_offset: int = -1

    @property
    def is_placed(self) -> bool:
        return self.placement is Placement.PLACED

    def seek(self, offset: int) -> None:
        """Goes on at an offset, whatever was fetched."""
        self.placement = Placement.PLACED
        self.position = self.fetch_offset = offset
        self.generation = object()

    def lose(self, placement: Placement) -> None:
        """Where to go on is to be found out."""
        self.placement = placement
        self.generation = object()
