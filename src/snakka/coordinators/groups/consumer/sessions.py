"""The deadlines of consumer groups and their members. All soft: another leader starts them anew."""

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


class DowngradeCheck(NamedTuple):
    """Only classic members may be left."""

    group_id: str
    kind: str = "downgrade"


class DowngradedRebalance(NamedTuple):
    """A group that has become a classic one is to share out its work anew."""

    group_id: str
    kind: str = "downgraded"
