"""Writes the parts of the documentation that are facts of the code: `python docs/generate.py`.

The text between `<!-- generated: NAME -->` and `<!-- end -->` in a page is replaced by what the
function of that name returns. `--check` writes nothing, and fails where a page is out of date.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from snakka.apis.dispatch import SERVED
from snakka.apis.registry import apis_of
from snakka.cli.main import main as main_command
from snakka.config import reference
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.internal.frames import (
    GROUP_RECORDS,
    METADATA_RECORDS,
    REMOTE_LOG_RECORDS,
    SHARE_STATE_RECORDS,
    TRANSACTION_RECORDS,
)
from snakka.protocol.schema import Listeners, Message, Request, Versions

PAGES = Path(__file__).parent
GENERATED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_HELP_WIDTH = 80


def apis() -> Iterator[str]:
    yield "| key | API | versions | flexible | listeners |"
    yield "| --- | --- | --- | --- | --- |"
    for key in ApiKey:
        request = request_type(key)
        name = request.__name__.removesuffix("Request")
        listeners = ", ".join(each.name.lower() for each in request.LISTENERS if each.name)
        flexible = "never" if request.FLEXIBLE.last < 0 else f"from {request.FLEXIBLE.first}"
        yield f"| {key.value} | {name} | {_request_versions(request)} | {flexible} | {listeners} |"


def served_apis() -> Iterator[str]:
    """The requests that brokers and controllers answer, and those of Kafka's that none does yet."""
    assert SERVED  # importing them has registered their handlers
    yield "| key | API | on brokers | on controllers |"
    yield "| --- | --- | --- | --- |"
    for key in ApiKey:
        name = request_type(key).__name__.removesuffix("Request")
        cells = [_served(key, each) for each in (Listeners.BROKER, Listeners.CONTROLLER)]
        yield f"| {key.value} | {name} | {' | '.join(cells)} |"


def _served(key: ApiKey, listeners: Listeners) -> str:
    """The versions; a dash for those to come, nothing where Kafka has none."""
    if listeners not in request_type(key).LISTENERS:
        return ""
    served = apis_of(listeners).get(key)
    return _versions(served.versions) if served else "-"


def records() -> Iterator[str]:
    yield "| log | type | record | versions |"
    yield "| --- | --- | --- | --- |"
    typed: dict[str, list[type[Message]]] = {
        "`__cluster_metadata`": list(METADATA_RECORDS.values()),
        "`__consumer_offsets`": [kind.value for kind in GROUP_RECORDS.values()],
        "`__transaction_state`": [kind.value for kind in TRANSACTION_RECORDS.values()],
        "`__share_group_state`": [kind.value for kind in SHARE_STATE_RECORDS.values()],
        "`__remote_log_metadata`": list(REMOTE_LOG_RECORDS.values()),
    }
    for log, types in typed.items():
        for record in sorted(types, key=lambda each: each.KEY):
            name = record.__name__.removesuffix("Value")
            yield f"| {log} | {record.KEY} | {name} | {_versions(record.VERSIONS)} |"


def commands() -> Iterator[str]:
    """What `--help` says of each command."""
    yield from _help(main_command, "snakka", None)


def _help(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=_HELP_WIDTH,
        max_content_width=_HELP_WIDTH,
        **command.context_settings,
    )
    yield from ("", f"## `{context.command_path}`", "", "```text", command.get_help(context), "```")
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from _help(found, each, context)


def _request_versions(request: type[Request]) -> str:
    if request.STABLE == request.VERSIONS:
        return _versions(request.VERSIONS)
    return f"{_versions(request.STABLE)} (unstable: {_versions(request.VERSIONS)})"


def _versions(versions: Versions) -> str:
    first, last = versions
    return str(first) if first == last else f"{first} to {last}"


PARTS: dict[str, Callable[[], Iterable[str]]] = {
    "apis": apis,
    "records": records,
    "broker_configs": reference.broker_configs,
    "unused_broker_configs": reference.unused_broker_configs,
    "topic_configs": reference.topic_configs,
    "group_configs": reference.group_configs,
    "client_metrics_configs": reference.client_metrics_configs,
    "quota_configs": reference.quota_configs,
    "served_apis": served_apis,
    "commands": commands,
}


def generate(page: str) -> str:
    """The page with its generated parts made anew."""
    return GENERATED.sub(
        lambda match: match[1] + "\n".join(PARTS[match[2]]()) + "\n" + match[3], page
    )


def main() -> None:
    stale = []
    for path in sorted(PAGES.glob("*.md")):
        page = path.read_text()
        if generate(page) != page:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(generate(page))
    if stale and "--check" in sys.argv:
        sys.exit(f"out of date, run `make docs`: {', '.join(stale)}")


if __name__ == "__main__":
    main()
