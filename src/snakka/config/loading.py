"""From settings to a broker's configuration; what is wrong with them is said all at once."""

from collections.abc import Iterable, Iterator, Mapping

from snakka.config.broker import BrokerConfig
from snakka.config.keys import BROKER_KEYS
from snakka.config.names import find_broker_key, why_unknown
from snakka.config.problems import ConfigurationError, Problem, nearest
from snakka.config.relations import find_conflicts
from snakka.config.sources import Setting
from snakka.config.values import InvalidValueError, parse

# Keys whose values are prefixes of settings that only a plugin knows.
_PLUGINS = (
    "remote.log.storage.manager.impl.prefix",
    "remote.log.metadata.manager.impl.prefix",
)


def load_broker_config(settings: Iterable[Setting]) -> BrokerConfig:
    """The configuration that the settings make, the later ones over the earlier ones.

    Raises ConfigurationError with all that is wrong.
    """
    given = {setting.name: setting for setting in settings}
    problems = {
        name: problem
        for name, setting in given.items()
        if (problem := _find_problem(setting, _plugin_prefixes(given))) is not None
    }
    problems |= {problem.name or "": problem for problem in _missing(given)}
    config = BrokerConfig({name: each.text for name, each in given.items() if name not in problems})
    conflicts: list[Problem] = []
    # Without node.id or process.roles there is no telling what the other keys have to be.
    if not any(key.is_required and name in problems for name, key in BROKER_KEYS.items()):
        conflicts = [
            _conflict_problem(conflict.names, conflict.reason, given)
            for conflict in find_conflicts(config)
            if not problems.keys() & set(conflict.names)
        ]
    if problems or conflicts:
        raise ConfigurationError((*problems.values(), *conflicts))
    return config


def _plugin_prefixes(given: Mapping[str, Setting]) -> tuple[str, ...]:
    prefixes = (
        given[name].text if name in given else BROKER_KEYS[name].default for name in _PLUGINS
    )
    return ("config.providers.", *(prefix for prefix in prefixes if isinstance(prefix, str)))


def _find_problem(setting: Setting, plugin_prefixes: tuple[str, ...]) -> Problem | None:
    name, text, source = setting
    key = find_broker_key(name)
    if key is None:
        if name.startswith(tuple(filter(None, plugin_prefixes))):
            return None
        # The value of what may be a misspelt password is nobody's business.
        return Problem(why_unknown(name), source, name)
    try:
        parse(key, text)
    except InvalidValueError as invalid:
        if key.is_sensitive:
            return Problem(str(invalid), source, name)
        return Problem(f"{invalid}{nearest(text, invalid.options)}", source, name, text)
    return None


def _missing(given: Mapping[str, Setting]) -> Iterator[Problem]:
    for name, key in BROKER_KEYS.items():
        if key.is_required and name not in given:
            if name == "node.id" and "broker.id" in given:
                continue
            yield Problem(f"it must be given; {key.doc[0].lower()}{key.doc[1:]}", name=name)


def _conflict_problem(names: tuple[str, ...], reason: str, given: Mapping[str, Setting]) -> Problem:
    """The problem is shown at the key to change, or at the other one where only that was given."""
    name = next((each for each in names if each in given), names[0])
    if name != names[0]:
        is_sentence_of_it = reason.startswith("it ")
        reason = f"{names[0]}{reason[2:]}" if is_sentence_of_it else f"{names[0]}: {reason}"
    if name not in given:
        return Problem(reason, name=name)
    key = find_broker_key(name)
    text = None if key is None or key.is_sensitive else given[name].text
    return Problem(reason, given[name].source, name, text)
