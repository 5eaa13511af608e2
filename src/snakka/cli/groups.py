"""`snakka groups`: who reads what, how far behind they are, and moving them."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from snakka.cli.connecting import on_cluster, refuse
from snakka.cli.moments import parse_time_ms
from snakka.cli.output import (
    counted,
    done,
    json_option,
    print_facts,
    print_json,
    print_table,
    title,
)
from snakka.cli.parsing import parse_place, parsed
from snakka.client.admin.groups import (
    DescribedGroup,
    Progress,
    delete_groups,
    describe_group,
    list_groups,
    progress,
)
from snakka.client.cluster import Cluster
from snakka.client.committed import commit_offsets, fetch_offsets
from snakka.client.errors import KafkaError
from snakka.client.list_offsets import EARLIEST, LATEST, list_offsets
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.records import TopicPartition
from snakka.protocol.error_codes import ErrorCode

_NOT_FOUND: Final = -1  # no record is as young as asked for


@click.group()
def groups() -> None:
    """Look at groups of consumers, their lag, and move them.

    \b
    Example:
      snakka groups describe billing
    """


@groups.command("list", epilog="Example: snakka groups list --json")
@json_option
@on_cluster
async def list_all(cluster: Cluster, as_json: bool) -> None:
    """List the groups of all coordinators."""
    found = await list_groups(cluster)
    if as_json:
        print_json(
            [
                {
                    "group": each.id,
                    "type": each.type,
                    "state": each.state,
                    "coordinator": each.coordinator_id,
                }
                for each in found
            ]
        )
        return
    print_table(
        ["GROUP", "TYPE", "STATE", ">COORDINATOR"],
        [(each.id, each.type, each.state, each.coordinator_id) for each in found],
    )


@groups.command(epilog="Example: snakka groups describe billing")
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@json_option
@on_cluster
async def describe(cluster: Cluster, names: tuple[str, ...], as_json: bool) -> None:
    """Show members, positions and lag."""
    documents = []
    for name in names:
        group = await describe_group(cluster, name)
        rows = await progress(cluster, group)
        documents.append(_document(group, rows))
        if not as_json:
            _print_group(group, rows)
    if as_json:
        print_json(documents)


@groups.command(epilog="Example: snakka groups delete billing")
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@on_cluster
async def delete(cluster: Cluster, names: tuple[str, ...]) -> None:
    """Delete groups that have no members, with their positions."""
    refused = False
    for name, error in (await delete_groups(cluster, names)).items():
        if error is None:
            done(f"deleted {name}")
        else:
            refused = True
            click.echo(f"snakka: {name}: {error}", err=True)
    if refused:
        sys.exit(1)


@groups.command(
    "reset-offsets",
    epilog="Example: snakka groups reset-offsets billing --to-datetime 2026-01-31T12:00 --dry-run",
)
@click.argument("name", metavar="GROUP")
@click.option(
    "-t",
    "--topic",
    "places",
    multiple=True,
    callback=parsed(parse_place),
    metavar="TOPIC[:PARTITION]",
    help="Only these; all that the group has a position in if not.",
)
@click.option("--to-earliest", is_flag=True, help="The oldest record.")
@click.option("--to-latest", is_flag=True, help="After the newest record.")
@click.option("--to-offset", type=click.IntRange(min=0), metavar="N")
@click.option(
    "--to-datetime",
    callback=parsed(parse_time_ms),
    metavar="TIME",
    help="Milliseconds or ISO 8601.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@json_option
@on_cluster
async def reset_offsets(
    cluster: Cluster,
    name: str,
    places: tuple[tuple[str, int | None], ...],
    dry_run: bool,
    as_json: bool,
    **targets: Any,
) -> None:
    """Move a group that has no members; it goes on there."""
    if sum(each is not None and each is not False for each in targets.values()) != 1:
        raise click.UsageError(
            "give one of --to-earliest, --to-latest, --to-offset and --to-datetime"
        )
    member = GroupMember(name)
    before = await fetch_offsets(cluster, member, require_stable=False)
    partitions = await _chosen(cluster, places, before)
    if not partitions:
        refuse(f"{name} has no positions; name topics with --topic")
    after = await _targets(cluster, partitions, **targets)
    if not dry_run:
        await _move(cluster, member, after)
    _print_moves(before, after, is_done=not dry_run, as_json=as_json)


async def _chosen(
    cluster: Cluster,
    places: Iterable[tuple[str, int | None]],
    before: Mapping[TopicPartition, CommittedOffset],
) -> list[TopicPartition]:
    wanted = list(places)
    if not wanted:
        return sorted(before)
    chosen: set[TopicPartition] = set()
    for topic, index in wanted:
        partitions = (await cluster.get_topic(topic)).partitions
        if index is not None and index not in partitions:
            refuse(f"{topic} has no partition {index}")
        chosen |= {
            TopicPartition(topic, each) for each in (partitions if index is None else [index])
        }
    return sorted(chosen)


async def _targets(
    cluster: Cluster,
    partitions: Iterable[TopicPartition],
    *,
    to_earliest: bool,
    to_latest: bool,
    to_offset: int | None,
    to_datetime: int | None,
) -> dict[TopicPartition, int]:
    """Where each partition goes: never before its start or after its end."""
    wanted = list(partitions)
    firsts = await list_offsets(cluster, dict.fromkeys(wanted, EARLIEST))
    ends = await list_offsets(cluster, dict.fromkeys(wanted, LATEST))
    if to_offset is not None:
        return {
            each: min(max(to_offset, firsts[each].offset), ends[each].offset) for each in wanted
        }
    if to_datetime is not None:
        found = await list_offsets(cluster, dict.fromkeys(wanted, to_datetime))
        return {
            each: ends[each].offset if found[each].offset == _NOT_FOUND else found[each].offset
            for each in wanted
        }
    named = ends if to_latest else firsts
    return {each: named[each].offset for each in wanted}


async def _move(cluster: Cluster, member: GroupMember, to: Mapping[TopicPartition, int]) -> None:
    offsets = {partition: CommittedOffset(offset) for partition, offset in to.items()}
    try:
        await commit_offsets(cluster, member, offsets)
    except KafkaError as error:
        if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
            refuse(f"{member.group_id} has members: it can be moved once they have left")
        raise


def _print_moves(
    before: Mapping[TopicPartition, CommittedOffset],
    after: Mapping[TopicPartition, int],
    *,
    is_done: bool,
    as_json: bool,
) -> None:
    moves = [
        (each.topic, each.partition, before[each].offset if each in before else None, offset)
        for each, offset in sorted(after.items())
    ]
    if as_json:
        names = ("topic", "partition", "before", "after")
        print_json([dict(zip(names, move, strict=True)) for move in moves])
        return
    print_table(["TOPIC", ">PARTITION", ">BEFORE", ">AFTER"], moves)
    if is_done:
        done(f"moved {counted(len(moves), 'partition')}")
    else:
        click.echo("Nothing was changed: this was a dry run.", err=True)


def _print_group(group: DescribedGroup, rows: Iterable[Progress]) -> None:
    shown = list(rows)
    title(group.id)
    print_facts(
        [
            ("type", group.type),
            ("state", group.state),
            ("coordinator", group.coordinator_id),
            ("members", len(group.members)),
            ("lag", sum(each.lag or 0 for each in shown)),
        ]
    )
    print_table(
        ["TOPIC", ">PARTITION", ">OFFSET", ">END", ">LAG", "CLIENT", "HOST", "MEMBER"],
        [
            (
                *each.partition,
                None if each.committed is None else each.committed.offset,
                each.end_offset,
                each.lag,
                *(
                    (None, None, None)
                    if each.member is None
                    else (each.member.client_id, each.member.host, each.member.id)
                ),
            )
            for each in shown
        ],
    )


def _document(group: DescribedGroup, rows: Iterable[Progress]) -> dict[str, Any]:
    return {
        "group": group.id,
        "type": group.type,
        "state": group.state,
        "coordinator": group.coordinator_id,
        "members": [
            {
                "id": each.id,
                "instance_id": each.instance_id,
                "client_id": each.client_id,
                "host": each.host,
                "assignment": [list(partition) for partition in each.assignment],
            }
            for each in group.members
        ],
        "partitions": [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "offset": None if each.committed is None else each.committed.offset,
                "metadata": None if each.committed is None else each.committed.metadata,
                "end_offset": each.end_offset,
                "lag": each.lag,
                "member": None if each.member is None else each.member.id,
            }
            for each in rows
        ],
    }
