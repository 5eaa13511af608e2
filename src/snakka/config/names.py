"""Names of broker keys: with a listener in front, with more than one name for a thing, misspelt.

`listener.name.internal.ssl.keystore.location` is `ssl.keystore.location` for the listener INTERNAL
alone; login keys may have a SASL mechanism in between.
"""

import re
from typing import Final

from snakka.config.key import Key
from snakka.config.keys import BROKER_KEYS, BROKER_QUOTA_KEYS
from snakka.config.problems import nearest

LISTENER_PREFIX: Final = "listener.name."
_OF_LISTENER: Final = re.compile(r"listener[.]name[.]([^.]*)[.](.*)")

# Keys without `ssl.` or `sasl.` in front that one listener may have for itself.
LISTENER_KEYS: Final = frozenset(
    {
        "max.connections",
        "max.connection.creation.rate",
        "num.network.threads",
        "connections.max.reauth.ms",
        "principal.builder.class",
    }
)
MECHANISM_KEYS: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)

# The first that is given counts.
_ONE_SETTING: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_FLUSHING: Final = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")

_GONE: Final = (
    "broker.id.generation.enable",
    "control.plane.listener.name",
    "delegation.token.master.key",
    "inter.broker.protocol.version",
    "log.message.downconversion.enable",
    "log.message.format.version",
    "log.message.timestamp.difference.max.ms",
    "offsets.commit.required.acks",
    "reserved.broker.max.id",
    "sasl.mechanism.inter.broker.handshake.enable",
)
_GONE_PREFIXES: Final = ("zookeeper.", "password.encoder.")


def split_listener(name: str) -> tuple[str, str] | None:
    """The listener and the rest of a name that has one in front."""
    found = _OF_LISTENER.fullmatch(name)
    return (found[1], found[2]) if found else None


def base_name(name: str) -> str:
    """The name without listener and mechanism."""
    found = split_listener(name)
    if found is None:
        return name
    rest = found[1]
    return next((key for key in MECHANISM_KEYS if rest.endswith(f".{key}")), rest)


def find_broker_key(name: str) -> Key | None:
    """The key that a name means, where it may stand."""
    base = base_name(name)
    key = BROKER_KEYS.get(base)
    if key is None or base == name:
        return key
    may_be_listeners = base.startswith(("ssl.", "sasl.")) or base in LISTENER_KEYS
    return key if may_be_listeners else None


def find_described_key(name: str) -> Key | None:
    """As above, and the keys that only AlterConfigs sets."""
    return find_broker_key(name) or BROKER_QUOTA_KEYS.get(name)


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The names that a broker's value may be given by, the one that counts first."""
    for names in _ONE_SETTING:
        if name in names:
            return names
    if name == _FLUSHING[0]:  # the scheduler's interval has a meaning of its own
        return _FLUSHING
    base = base_name(name)
    return (name,) if base == name else (name, base)


def why_unknown(name: str) -> str:
    """What to say of a name that is no key."""
    if name in _GONE or name.startswith(_GONE_PREFIXES):
        return "Kafka 4 has no such key any more; remove it"
    base = base_name(name)
    if base != name and base in BROKER_KEYS:
        return "this cannot be set for one listener"
    prefix = name.removesuffix(base)
    return "unknown key" + nearest(name, (prefix + key for key in BROKER_KEYS))
