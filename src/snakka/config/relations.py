"""What keys want of each other, as Kafka checks it when a broker starts.

Not here: what one key wants of its own value (rules.py).
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoints, InvalidEndpointError, endpoints, is_routable
from snakka.config.key import MIB
from snakka.config.names import split_listener
from snakka.config.problems import nearest
from snakka.config.values import split


class Conflict(NamedTuple):
    names: tuple[str, ...]  # the first is the one to change
    reason: str


_SHARE_LIMITS: Final = (
    "delivery.count.limit",
    "partition.max.record.locks",
    "record.lock.duration.ms",
)

# The value of the first is at most that of the second.
_AT_MOST: Final = (
    ("replica.fetch.wait.max.ms", "replica.socket.timeout.ms"),
    ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
    ("log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"),
    *(
        pair
        for kind in ("consumer", "share", "streams")
        for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")
        for pair in (
            (f"group.{kind}.min.{what}", f"group.{kind}.{what}"),
            (f"group.{kind}.{what}", f"group.{kind}.max.{what}"),
        )
    ),
    *(
        pair
        for what in (
            "delivery.count.limit",
            "partition.max.record.locks",
            "record.lock.duration.ms",
        )
        for pair in (
            (f"group.share.min.{what}", f"group.share.{what}"),
            (f"group.share.{what}", f"group.share.max.{what}"),
        )
    ),
    ("group.streams.num.standby.replicas", "group.streams.max.standby.replicas"),
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
)
_LESS: Final = tuple(
    (f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms")
    for kind in ("consumer", "share", "streams")
)


def find_conflicts(config: BrokerConfig) -> Iterator[Conflict]:
    for check in _CHECKS:
        yield from check(config)
    try:
        found = endpoints(config)
    except InvalidEndpointError as error:
        yield Conflict((error.name,), str(error))
        return
    for check_endpoints in (_broker_endpoints, _controller_endpoints, _prefixes):
        yield from check_endpoints(config, found)


def _orders(config: BrokerConfig) -> Iterator[Conflict]:
    for lower, upper in _AT_MOST:
        if config.get_int(lower) > config.get_int(upper):
            yield Conflict((lower, upper), f"it must be at most {_shown(config, upper)}")
    for lower, upper in _LESS:
        if config.get_int(lower) >= config.get_int(upper):
            yield Conflict((lower, upper), f"it must be less than {_shown(config, upper)}")


def _shown(config: BrokerConfig, name: str) -> str:
    return f"{name} ({config.values[name]})"


def _node(config: BrokerConfig) -> Iterator[Conflict]:
    if config.node_id != config.get_int("broker.id"):
        yield Conflict(("broker.id", "node.id"), f"it must be {_shown(config, 'node.id')}")
    voters = {int(each.partition("@")[0]) for each in config.get_list("controller.quorum.voters")}
    is_controller = "controller" in config.get_list("process.roles")
    # Kafka wants one of them of controllers too; here, one that names nobody begins alone.
    bootstrap = config.get_list("controller.quorum.bootstrap.servers")
    if not (is_controller or voters or bootstrap):
        reason = "a broker must be given this, or controller.quorum.voters"
        yield Conflict(("controller.quorum.bootstrap.servers", "controller.quorum.voters"), reason)
    is_voter = config.node_id in voters
    if voters and is_voter != is_controller:
        wanted = "must not name" if is_voter else "must name"
        reason = f"it {wanted} node.id {config.node_id}, given what process.roles says"
        yield Conflict(("controller.quorum.voters", "process.roles", "node.id"), reason)


def _logs(config: BrokerConfig) -> Iterator[Conflict]:
    for name in ("log.roll.ms", "log.retention.ms"):
        if config.is_given(name) and config.get_int(name) < 1:
            if name == "log.retention.ms" and config.get_int(name) == -1:
                continue
            yield Conflict((name,), "it must be at least 1" + (", or -1" if "ret" in name else ""))
    for name in ("log.retention.minutes", "log.retention.hours"):
        if config.is_given(name) and config.get_int(name) == 0:
            yield Conflict((name,), "it must be at least 1, or -1")
    if config.is_given("log.roll.jitter.ms") and config.get_int("log.roll.jitter.ms") < 0:
        yield Conflict(("log.roll.jitter.ms",), "it must be at least 0")
    buffer, threads = "log.cleaner.dedupe.buffer.size", "log.cleaner.threads"
    if config.get_int(buffer) <= MIB * config.get_int(threads):
        yield Conflict((buffer, threads), f"it must be more than 1 MiB for each of {threads}")
    cordoned = set(config.get_list("cordoned.log.dirs")) - {*config.log_directories, "*"}
    for directory in sorted(cordoned):
        near = nearest(directory, config.log_directories)
        yield Conflict(("cordoned.log.dirs",), f"{directory} is not one of log.dirs{near}")


def _network(config: BrokerConfig) -> Iterator[Conflict]:
    queued, largest = "queued.max.request.bytes", "socket.request.max.bytes"
    if 0 < config.get_int(queued) < config.get_int(largest):
        yield Conflict((queued, largest), f"it must be at least {_shown(config, largest)}, or -1")
    overrides = "max.connections.per.ip.overrides"
    for pair in filter(None, split(config.get_text(overrides))):
        host, _, limit = pair.rpartition(":")
        if not host or not limit.isdecimal():
            yield Conflict((overrides,), f"{pair!r} is not of the form host:limit")
    if not config.get_int("max.connections.per.ip") and not config.get_text(overrides):
        yield Conflict(("max.connections.per.ip",), f"it can be 0 only with {overrides}")
    delay, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    if 0 <= config.get_int(idle) <= config.get_int(delay):
        yield Conflict((delay, idle), f"it must be less than {_shown(config, idle)}")


_CHECKS: Final[tuple[Callable[[BrokerConfig], Iterator[Conflict]], ...]] = (
    _orders,
    _node,
    _logs,
    _network,
)


def _broker_endpoints(config: BrokerConfig, found: Endpoints) -> Iterator[Conflict]:
    listeners = [each.listener for each in found.listeners]
    for endpoint in found.advertised:
        if endpoint.listener not in listeners and endpoint.listener not in found.controller_names:
            near = nearest(endpoint.listener, listeners)
            yield Conflict(("advertised.listeners",), f"no listener is {endpoint.listener}{near}")
        if not is_routable(endpoint):
            key = "advertised.listeners"
            reason = f"{endpoint.host} cannot be connected to; advertise an address that can"
            yield Conflict((key, "listeners"), reason)
    if "broker" not in config.get_list("process.roles"):
        return
    names = [each.listener for each in found.advertised_to_clients]
    if not names:
        yield Conflict(("listeners",), "a broker must have a listener that is no controller's")
    elif found.inter_broker_name not in names:
        reason = (
            f"{found.inter_broker_name} is not advertised; it must be one of {', '.join(names)}"
        )
        yield Conflict(("inter.broker.listener.name", "advertised.listeners"), reason)


def _controller_endpoints(config: BrokerConfig, found: Endpoints) -> Iterator[Conflict]:
    roles = config.get_list("process.roles")
    listeners = [each.listener for each in found.listeners]
    name = "controller.listener.names"
    if "controller" not in roles:
        if shared := set(found.controller_names) & set(listeners):
            reason = f"a broker that is no controller must not listen as {', '.join(shared)}"
            yield Conflict(("listeners", name), reason)
        return
    for controller in found.controller_names:
        if controller not in listeners:
            near = nearest(controller, listeners)
            yield Conflict((name, "listeners"), f"no listener is {controller}{near}")
    if "broker" not in roles and found.broker_listeners:
        others = ", ".join(each.listener for each in found.broker_listeners)
        reason = f"a node that is only a controller must not listen as {others}"
        yield Conflict(("listeners", name), reason)


def _prefixes(config: BrokerConfig, found: Endpoints) -> Iterator[Conflict]:
    """A setting for a listener that there is not would have no effect."""
    listeners = {each.listener.lower() for each in (*found.listeners, *found.advertised)}
    listeners |= {each.lower() for each in found.controller_names}
    for name in config.values:
        split_name = split_listener(name)
        if split_name is not None and split_name[0] not in listeners:
            near = nearest(split_name[0], listeners)
            yield Conflict((name,), f"no listener is {split_name[0]!r}{near}")
