"""The deadlines of consumer groups' members. All soft: another leader starts them anew."""

from typing import NamedTuple


class ConsumerSessionEnd(NamedTuple):
    """A member has not been heard of."""

    group_id: str
    member_id: str
    kind: str = "consumer session"


class RevocationEnd(NamedTuple):
    """The time to give up partitions is over."""

    group_id: str
    member_id: str
    kind: str = "revocation"
