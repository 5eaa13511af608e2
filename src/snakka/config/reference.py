"""The tables of docs/configuration.md, made from the declarations (docs/generate.py calls this)."""

from collections.abc import Iterable, Iterator

from snakka.config.key import Key
from snakka.config.keys import (
    ADDRESS_QUOTA_KEYS,
    BROKER_KEYS_BY_CONCERN,
    BROKER_QUOTA_KEYS,
    CLIENT_METRICS_KEYS,
    CLIENT_QUOTA_KEYS,
    GROUP_KEYS,
    TOPIC_KEYS,
)
from snakka.config.rules import Each, Form, ListOf, OneOf, Range
from snakka.config.values import render


def broker_configs() -> Iterator[str]:
    """What a broker's file may set and Snakka acts on."""
    for concern, keys in BROKER_KEYS_BY_CONCERN.items():
        used = [key for key in keys if not key.is_unused and not key.is_internal]
        if used:
            yield ""
            yield f"### {concern}"
            yield ""
            yield from _table(used, with_update=True)
    yield ""


def unused_broker_configs() -> Iterator[str]:
    """What a broker's file may set without effect."""
    yield "| key | why |"
    yield "| --- | --- |"
    for keys in BROKER_KEYS_BY_CONCERN.values():
        for key in keys:
            if key.is_unused and not key.is_internal:
                yield f"| `{key.name}` | {_cell(key.doc)} |"


def topic_configs() -> Iterator[str]:
    yield from _table(TOPIC_KEYS.values(), with_synonyms=True)


def group_configs() -> Iterator[str]:
    yield from _table(GROUP_KEYS.values(), with_synonyms=True)


def client_metrics_configs() -> Iterator[str]:
    yield from _table(CLIENT_METRICS_KEYS.values())


def quota_configs() -> Iterator[str]:
    yield from _table(
        (*BROKER_QUOTA_KEYS.values(), *CLIENT_QUOTA_KEYS.values(), *ADDRESS_QUOTA_KEYS.values())
    )


def _table(
    keys: Iterable[Key], *, with_update: bool = False, with_synonyms: bool = False
) -> Iterator[str]:
    extra = ["changes"] * with_update + ["default from"] * with_synonyms
    columns = ["key", "type", "default", "valid", *extra, "what it is"]
    yield _row(columns)
    yield _row("---" for _ in columns)
    for key in keys:
        if key.is_internal:
            continue
        cells = [f"`{key.name}`", key.type.name.lower(), _default(key), _valid(key)]
        if with_update:
            cells.append(key.update.value)
        if with_synonyms:
            cells.append(f"`{key.synonyms[0]}`" if key.synonyms else "")
        yield _row([*cells, key.doc])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(key: Key) -> str:
    if key.is_required:
        return "must be given"
    text = render(key.default)
    # A space where a long list may break, so that the column stays narrow.
    return f"`{text.replace(',', ', ')}`" if text else ""


def _valid(key: Key) -> str:
    match key.rule:
        case Range(low, None):
            return f"at least {low}"
        case Range(low, high, also):
            return f"{low} to {high}" + ("" if also is None else f", or {also}")
        case Each(form):
            return f"`{form}`, ..."
        case Form(forms):
            return ", ".join(f"`{form}`" for form in forms)
        case OneOf(options) | ListOf(options):
            return ", ".join(f"`{option}`" for option in options)
        case _:
            return ""
