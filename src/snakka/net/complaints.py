"""How much is logged of clients that misbehave: some lines a minute, and how many more there were.

Time is an argument.
"""

import math
from typing import Final

LINES_MAX: Final = 20
PERIOD_S: Final = 60.0


class Complaints:
    """Those of one listener."""

    def __init__(self) -> None:
        self._since_s = -math.inf
        self._lines = 0
        self._unsaid = 0

    def admit(self, now_s: float) -> bool:
        """Whether one more may be logged."""
        if now_s - self._since_s >= PERIOD_S:
            self._since_s, self._lines = now_s, 0
        if self._lines == LINES_MAX:
            self._unsaid += 1
            return False
        self._lines += 1
        return True

    def take_unsaid(self) -> int:
        """How many were not logged since this was asked."""
        unsaid, self._unsaid = self._unsaid, 0
        return unsaid
