"""What a driver has to do after an event, in the order of the fields of `Ready`.

The election state is written and synced before any message leaves: a vote or an epoch that a crash
could take back is a vote given twice. The flush may take its time; it is reported when it is done.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from snakka.protocol.schema import Request, Response
from snakka.quorum.election_state import ElectionState
from snakka.quorum.peers import Node


class Inbound(NamedTuple):
    """A request that came in. The driver finds the way back by its token."""

    token: Hashable
    version: int
    message: Request


class Outbound(NamedTuple):
    """A request to send; its answer is reported under the correlation id."""

    node: Node
    correlation_id: int
    message: Request


class Reply(NamedTuple):
    token: Hashable
    message: Response


class Flush(NamedTuple):
    """Sync the log up to `end_offset`. A truncation in the meantime makes it worth nothing."""

    end_offset: int
    truncations: int


@dataclass(frozen=True, slots=True)
class Ready:
    election: ElectionState | None = None
    requests: tuple[Outbound, ...] = ()
    replies: tuple[Reply, ...] = ()
    flush: Flush | None = None

    def __bool__(self) -> bool:
        return bool(self.election or self.requests or self.replies or self.flush)
