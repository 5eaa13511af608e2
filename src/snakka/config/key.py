"""What a configuration key is: its type, default, rule, and how it may be changed.

Not here: the keys themselves (keys/), text to values (values.py), what values are valid (rules.py).
"""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeAlias

from snakka.config.rules import ANY_LIST, Rule

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None


class Type(IntEnum):
    """The types of values, numbered as DescribeConfigs does (KIP-226)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Importance(Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Update(Enum):
    """How the value of a broker's key may be changed while the broker runs."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class _Required:
    """Stands where a default would, for keys that have to be given."""


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class Key:
    """One key. `synonyms` name the broker's keys that a topic or a group takes its default from."""

    name: str
    type: Type
    default: Value
    importance: Importance
    doc: str
    rule: Rule | None = None
    update: Update = Update.READ_ONLY
    is_required: bool = False
    is_unused: bool = False  # Kafka knows it, Snakka has nothing that it would change
    is_internal: bool = False  # Kafka keeps it for its own tests: not described, not documented
    synonyms: tuple[str, ...] = ()

    @property
    def is_sensitive(self) -> bool:
        return self.type is Type.PASSWORD

    @property
    def is_dynamic(self) -> bool:
        return self.update is not Update.READ_ONLY


class _Declares:
    """Declares keys of one type: `INT("num.partitions", 1, MEDIUM, at_least(1), doc="...")`."""

    def __init__(self, kind: Type) -> None:
        self._type = kind

    def __call__(
        self,
        name: str,
        default: "Value | _Required",
        importance: Importance,
        rule: Rule | None = None,
        update: Update = Update.READ_ONLY,
        *,
        doc: str,
        synonyms: tuple[str, ...] = (),
        unused: bool = False,
        internal: bool = False,
    ) -> Key:
        if self._type is Type.LIST and rule is None:
            rule = ANY_LIST
        return Key(
            name,
            self._type,
            None if isinstance(default, _Required) else default,
            importance,
            doc,
            rule,
            update,
            is_required=isinstance(default, _Required),
            is_unused=unused,
            is_internal=internal,
            synonyms=synonyms,
        )


BOOLEAN = _Declares(Type.BOOLEAN)
STRING = _Declares(Type.STRING)
INT = _Declares(Type.INT)
SHORT = _Declares(Type.SHORT)
LONG = _Declares(Type.LONG)
DOUBLE = _Declares(Type.DOUBLE)
LIST = _Declares(Type.LIST)
CLASS = _Declares(Type.CLASS)
PASSWORD = _Declares(Type.PASSWORD)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
PER_BROKER, CLUSTER_WIDE = Update.PER_BROKER, Update.CLUSTER_WIDE

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
