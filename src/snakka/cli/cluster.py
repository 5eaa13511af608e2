"""`snakka cluster`: the nodes of a cluster, its controller, its features."""

from typing import Any

import click

from snakka.cli.connecting import on_cluster
from snakka.cli.output import json_option, print_facts, print_json, print_table, warning
from snakka.client.admin.cluster import DescribedCluster, DescribedNode, describe_cluster
from snakka.client.cluster import Cluster


@click.group()
def cluster() -> None:
    """Show what a cluster consists of.

    \b
    Example:
      snakka cluster describe
    """


@cluster.command(epilog="Example: snakka cluster describe -b 127.0.0.1:9092 --json")
@json_option
@on_cluster
async def describe(cluster: Cluster, as_json: bool) -> None:
    """Show the cluster's id, nodes, controller and features."""
    told = await describe_cluster(cluster)
    if as_json:
        print_json(_document(told))
        return
    features = [(f"feature {name}", level) for name, level in sorted(told.features.items())]
    print_facts([("cluster", told.id), ("controller", told.controller_id), *features])
    print_table(
        [">NODE", "HOST", ">PORT", "RACK", "STATE"],
        [
            (
                each.id,
                each.host,
                each.port,
                each.rack,
                _state(each),
            )
            for each in told.nodes
        ],
    )


def _state(node: DescribedNode) -> object:
    return warning("fenced") if node.is_fenced else "up"


def _document(told: DescribedCluster) -> dict[str, Any]:
    return {
        "id": told.id,
        "controller": told.controller_id,
        "features": dict(told.features),
        "nodes": [
            {
                "id": each.id,
                "host": each.host,
                "port": each.port,
                "rack": each.rack,
                "is_fenced": each.is_fenced,
            }
            for each in told.nodes
        ],
    }
