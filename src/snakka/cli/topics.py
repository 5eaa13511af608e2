"""`snakka topics`: what topics there are, and making, growing and deleting them."""

import sys
from typing import Any, Final

import click

from snakka.cli.connecting import on_cluster, refuse
from snakka.cli.output import (
    counted,
    done,
    json_option,
    print_facts,
    print_json,
    print_table,
    title,
    warning,
)
from snakka.cli.parsing import parse_pair, parsed
from snakka.client.admin.configs import (
    ConfigResource,
    ConfigSource,
    ResourceType,
    describe_configs,
)
from snakka.client.admin.topics import (
    NewTopic,
    create_topics,
    delete_topics,
    set_partition_count,
)
from snakka.client.cluster import Cluster
from snakka.client.errors import KafkaError, kafka_error
from snakka.client.list_offsets import EARLIEST, LATEST, list_offsets
from snakka.client.metadata import PartitionInfo, TopicInfo
from snakka.client.records import TopicPartition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.types import format_uuid

_NOT_SET: Final = -1


@click.group()
def topics() -> None:
    """List, create, describe and delete topics.

    \b
    Example:
      snakka topics list
    """


@topics.command("list", epilog="Example: snakka topics list --internal")
@click.option("--internal", is_flag=True, help="Also those that the cluster keeps for itself.")
@json_option
@on_cluster
async def list_topics(cluster: Cluster, internal: bool, as_json: bool) -> None:
    """List all topics."""
    await cluster.learn_all_topics()
    found = sorted(cluster.metadata.topics.values(), key=lambda topic: topic.name)
    shown = [each for each in found if internal or not each.is_internal]
    if as_json:
        print_json([_brief(each) for each in shown])
        return
    print_table(
        ["TOPIC", ">PARTITIONS", ">REPLICAS", "STATE"],
        [(each.name, len(each.partitions), _replicas(each), _state(each)) for each in shown],
    )


@topics.command(epilog="Example: snakka topics create orders -p 3 -r 1 -c cleanup.policy=compact")
@click.argument("names", nargs=-1, required=True, metavar="TOPIC...")
@click.option(
    "-p", "--partitions", type=click.IntRange(min=1), help="How many; the broker's default if not."
)
@click.option("-r", "--replicas", type=click.IntRange(min=1), help="How many of each partition.")
@click.option(
    "-c", "--config", "configs", multiple=True, callback=parsed(parse_pair), metavar="KEY=VALUE"
)
@click.option("--if-not-exists", is_flag=True, help="A topic that is there already is well.")
@on_cluster
async def create(
    cluster: Cluster,
    names: tuple[str, ...],
    partitions: int | None,
    replicas: int | None,
    configs: tuple[tuple[str, str], ...],
    if_not_exists: bool,
) -> None:
    """Create topics."""
    new = [
        NewTopic(each, partitions or _NOT_SET, replicas or _NOT_SET, dict(configs))
        for each in names
    ]
    refused = False
    for name, outcome in (await create_topics(cluster, new)).items():
        if not isinstance(outcome, KafkaError):
            done(
                f"created {name}: {counted(outcome.partitions, 'partition')},"
                f" {counted(outcome.replication_factor, 'replica')}"
            )
        elif if_not_exists and outcome.code is ErrorCode.TOPIC_ALREADY_EXISTS:
            done(f"{name} is there already")
        else:
            refused = True
            click.echo(f"snakka: {name}: {outcome}", err=True)
    if refused:
        sys.exit(1)


@topics.command(epilog="Example: snakka topics describe orders")
@click.argument("names", nargs=-1, required=True, metavar="TOPIC...")
@json_option
@on_cluster
async def describe(cluster: Cluster, names: tuple[str, ...], as_json: bool) -> None:
    """Show partitions, their leaders and ends, and what is set for a topic."""
    await cluster.refresh(names)
    documents = []
    for name in names:
        topic = _get(cluster, name)
        ends = await _ends(cluster, topic)
        configs = await _set_configs(cluster, name)
        documents.append(_detailed(topic, ends, configs))
        if not as_json:
            _print_topic(topic, ends, configs)
    if as_json:
        print_json(documents)


@topics.command(epilog="Example: snakka topics delete orders --yes")
@click.argument("names", nargs=-1, required=True, metavar="TOPIC...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@on_cluster
async def delete(cluster: Cluster, names: tuple[str, ...], yes: bool) -> None:
    """Delete topics with all their records."""
    if not yes and sys.stdin.isatty():
        click.confirm(f"Delete {', '.join(names)} with all records?", abort=True)
    refused = False
    for name, error in (await delete_topics(cluster, names)).items():
        if error is None:
            done(f"deleted {name}")
        else:
            refused = True
            click.echo(f"snakka: {name}: {error}", err=True)
    if refused:
        sys.exit(1)


@topics.command("add-partitions", epilog="Example: snakka topics add-partitions orders -n 3")
@click.argument("name", metavar="TOPIC")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    required=True,
    help="How many more.",
)
@on_cluster
async def add_partitions(cluster: Cluster, name: str, number: int) -> None:
    """Add partitions to a topic; records with a key may go elsewhere from then on."""
    await cluster.refresh([name])
    count = len(_get(cluster, name).partitions) + number
    await set_partition_count(cluster, name, count)
    done(f"{name} has {count} partitions")


def _get(cluster: Cluster, name: str) -> TopicInfo:
    topic = cluster.metadata.topics.get(name)
    if topic is None:
        code = cluster.metadata.refusals.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        refuse(f"{name}: {kafka_error(code)}")
    return topic


async def _ends(cluster: Cluster, topic: TopicInfo) -> dict[int, tuple[int | None, int | None]]:
    """Start and end of each partition; unknown of those without a leader."""
    led = [
        TopicPartition(topic.name, each.index)
        for each in topic.partitions.values()
        if each.leader_id >= 0
    ]
    starts = await list_offsets(cluster, dict.fromkeys(led, EARLIEST))
    ends = await list_offsets(cluster, dict.fromkeys(led, LATEST))
    known = {each.partition: (starts[each].offset, ends[each].offset) for each in led}
    return {index: known.get(index, (None, None)) for index in sorted(topic.partitions)}


async def _set_configs(cluster: Cluster, name: str) -> dict[str, str | None]:
    entries = await describe_configs(cluster, ConfigResource(ResourceType.TOPIC, name))
    return {
        each.name: each.value
        for each in entries
        if each.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
    }


def _print_topic(
    topic: TopicInfo,
    ends: dict[int, tuple[int | None, int | None]],
    configs: dict[str, str | None],
) -> None:
    title(topic.name)
    print_facts(
        [
            ("id", format_uuid(topic.id)),
            ("partitions", len(topic.partitions)),
            ("replicas", _replicas(topic)),
            ("state", _state(topic)),
            *((f"config {name}", value) for name, value in configs.items()),
        ]
    )
    print_table(
        [">PARTITION", ">LEADER", ">EPOCH", "REPLICAS", "IN SYNC", ">START", ">END", ">OFFSETS"],
        [
            (
                each.index,
                each.leader_id if each.leader_id >= 0 else warning("none"),
                each.leader_epoch,
                each.replicas,
                each.isr if len(each.isr) == len(each.replicas) else warning(str(each.isr)),
                *ends[each.index],
                _count(*ends[each.index]),
            )
            for _, each in sorted(topic.partitions.items())
        ],
    )


def _count(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start


def _replicas(topic: TopicInfo) -> int:
    return max((len(each.replicas) for each in topic.partitions.values()), default=0)


def _state(topic: TopicInfo) -> object:
    partitions = topic.partitions.values()
    offline = sum(each.leader_id < 0 for each in partitions)
    behind = sum(len(each.isr) < len(each.replicas) for each in partitions)
    if offline:
        return warning(f"{offline} without a leader")
    return warning(f"{behind} under-replicated") if behind else "ok"


def _brief(topic: TopicInfo) -> dict[str, Any]:
    return {
        "name": topic.name,
        "id": format_uuid(topic.id),
        "is_internal": topic.is_internal,
        "partitions": len(topic.partitions),
        "replicas": _replicas(topic),
    }


def _detailed(
    topic: TopicInfo,
    ends: dict[int, tuple[int | None, int | None]],
    configs: dict[str, str | None],
) -> dict[str, Any]:
    return _brief(topic) | {
        "configs": configs,
        "partitions": [
            _partition(each, *ends[index]) for index, each in sorted(topic.partitions.items())
        ],
    }


def _partition(info: PartitionInfo, start: int | None, end: int | None) -> dict[str, Any]:
    return {
        "partition": info.index,
        "leader": info.leader_id,
        "leader_epoch": info.leader_epoch,
        "replicas": info.replicas,
        "isr": info.isr,
        "offline_replicas": info.offline_replicas,
        "start_offset": start,
        "end_offset": end,
    }
