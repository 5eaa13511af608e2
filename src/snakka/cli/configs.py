"""`snakka configs`: what is set for topics, brokers and groups, and setting it."""

from typing import Final

import click

from snakka.cli.connecting import on_cluster
from snakka.cli.output import done, json_option, print_json, print_table
from snakka.cli.parsing import parse_pair, parsed
from snakka.client.admin.configs import (
    ConfigEntry,
    ConfigResource,
    ResourceType,
    alter_configs,
    describe_configs,
)
from snakka.client.cluster import Cluster

_ALL_BROKERS: Final = "default"

_kind = click.argument(
    "kind", type=click.Choice([each.name.lower() for each in ResourceType]), metavar="KIND"
)
_name = click.argument("name", metavar="NAME")


@click.group()
def configs() -> None:
    """Show and change settings of topics, brokers and groups.

    KIND is topic, broker or group. A broker's NAME is its id, or `default` for all brokers.

    \b
    Example:
      snakka configs describe topic orders
    """


@configs.command(epilog="Example: snakka configs describe broker 1 --all")
@_kind
@_name
@click.option("--all", "with_defaults", is_flag=True, help="Also what has Kafka's default.")
@json_option
@on_cluster
async def describe(
    cluster: Cluster, kind: str, name: str, with_defaults: bool, as_json: bool
) -> None:
    """Show what is set, and where it was."""
    entries = await describe_configs(cluster, _resource(kind, name))
    shown = [each for each in entries if with_defaults or not each.is_default]
    if as_json:
        print_json([_document(each) for each in shown])
        return
    print_table(
        ["KEY", "VALUE", "SOURCE"],
        [
            (
                each.name,
                "(hidden)" if each.is_sensitive else each.value,
                each.source.name.lower().replace("_", " "),
            )
            for each in shown
        ],
    )


@configs.command("set", epilog="Example: snakka configs set topic orders retention.ms=3600000")
@_kind
@_name
@click.argument(
    "pairs", nargs=-1, required=True, callback=parsed(parse_pair), metavar="KEY=VALUE..."
)
@on_cluster
async def set_values(
    cluster: Cluster, kind: str, name: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    """Set values; what is not named stays as it is."""
    await alter_configs(cluster, _resource(kind, name), dict(pairs))
    done(f"set {', '.join(key for key, _ in pairs)} of {kind} {name}")


@configs.command(epilog="Example: snakka configs unset topic orders retention.ms")
@_kind
@_name
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@on_cluster
async def unset(cluster: Cluster, kind: str, name: str, keys: tuple[str, ...]) -> None:
    """Take values back to what they are without being set."""
    await alter_configs(cluster, _resource(kind, name), {}, keys)
    done(f"unset {', '.join(keys)} of {kind} {name}")


def _resource(kind: str, name: str) -> ConfigResource:
    type_ = ResourceType[kind.upper()]
    if type_ is not ResourceType.BROKER:
        return ConfigResource(type_, name)
    if name == _ALL_BROKERS:
        return ConfigResource(type_, "")
    if not name.isdecimal():
        raise click.BadParameter(f"{name!r} is no broker's id, nor `default`", param_hint="NAME")
    return ConfigResource(type_, name)


def _document(entry: ConfigEntry) -> dict[str, object]:
    return {
        "key": entry.name,
        "value": entry.value,
        "source": entry.source.name,
        "is_sensitive": entry.is_sensitive,
        "is_read_only": entry.is_read_only,
    }
