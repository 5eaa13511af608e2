"""`snakka format`: the directories of a node of a new cluster, as `kafka-storage format` does it.

A node that is a cluster of its own needs none of this: `snakka serve` formats it.
"""

import os
import random
import time
from pathlib import Path

import click

from snakka.cli.scram_argument import read_scram
from snakka.cli.settings import data_option, load_config, refuse, set_option
from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import InvalidEndpointError, endpoints
from snakka.metadata.bootstrap import (
    FormatError,
    bootstrap_records,
    effective_levels,
    read_release,
)
from snakka.metadata.versions import METADATA_VERSION, MetadataVersion
from snakka.node.formatting import Beginning, NotFormattedError, find_identity, format_directory
from snakka.protocol.types import Uuid, parse_uuid, random_uuid
from snakka.quorum.voters import SUPPORTED_VERSIONS, Endpoint, ReplicaKey, Voter, VoterSet
from snakka.storage.disk import LocalDisk
from snakka.storage.errors import CorruptFileError

_EXAMPLE = "Example: snakka format --cluster-id ZZZZZZZZQZGZZZZZZZZZZg --standalone"


@click.command("format", epilog=_EXAMPLE)
@click.option(
    "-c", "--config", "file", type=click.Path(path_type=Path), help="A .properties or TOML file."
)
@data_option
@set_option
@click.option("-t", "--cluster-id", required=True, help="The same for all nodes of the cluster.")
@click.option("-s", "--standalone", is_flag=True, help="This controller votes, alone at first.")
@click.option(
    "-I", "--initial-controllers", metavar="ID@HOST:PORT:DIRECTORY,...", help="Who votes at first."
)
@click.option(
    "-N", "--no-initial-controllers", is_flag=True, help="Who votes is learnt from other nodes."
)
@click.option("-r", "--release-version", help="Feature levels of an older release, as 4.1-IV0.")
@click.option("-f", "--feature", "features", multiple=True, metavar="NAME=LEVEL")
@click.option(
    "-S",
    "--add-scram",
    multiple=True,
    metavar="CREDENTIAL",
    help="As SCRAM-SHA-256=[name=alice,password=secret].",
)
@click.option("-g", "--ignore-formatted", is_flag=True, help="Pass over what is formatted.")
def format_node(
    file: Path | None,
    data: str,
    flags: tuple[str, ...],
    cluster_id: str,
    *,
    standalone: bool,
    initial_controllers: str | None,
    no_initial_controllers: bool,
    release_version: str | None,
    features: tuple[str, ...],
    add_scram: tuple[str, ...],
    ignore_formatted: bool,
) -> None:
    """Make the log directories of a node ready for a new cluster."""
    config = load_config(file, data, flags)
    own_id = random_uuid(random.SystemRandom())
    try:
        voters = _find_voters(
            config,
            own_id,
            initial_controllers,
            is_standalone=standalone,
            is_without=no_initial_controllers,
        )
        levels = effective_levels(
            None if release_version is None else read_release(release_version),
            dict(_read_feature(each) for each in features),
            is_dynamic=config.find_list("controller.quorum.voters") in (None, ()),
        )
        if add_scram and not MetadataVersion(levels[METADATA_VERSION]).has_scram:
            raise FormatError("SCRAM is only supported in metadata.version 3.5-IV2 or later.")
        records = bootstrap_records(levels, [read_scram(each) for each in add_scram])
        _check_cluster_id(cluster_id)
        beginning = Beginning(cluster_id, records, voters)
        _format(config, beginning, own_id, levels, is_ignoring=ignore_formatted)
    except (FormatError, InvalidEndpointError, NotFormattedError, CorruptFileError) as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{error.filename}: {error.strerror}")


def _check_cluster_id(cluster_id: str) -> None:
    if not cluster_id or not all(sign.isalnum() or sign in "_-" for sign in cluster_id):
        raise FormatError(f"{cluster_id!r} is no cluster id: letters, digits, _ and - only")


def _find_voters(
    config: BrokerConfig,
    own_id: Uuid,
    initial_controllers: str | None,
    *,
    is_standalone: bool,
    is_without: bool,
) -> VoterSet | None:
    """Who votes at first, if that is not left to the configuration or to other nodes."""
    if sum((is_standalone, is_without, initial_controllers is not None)) > 1:
        raise FormatError(
            "--standalone, --initial-controllers and --no-initial-controllers exclude each other"
        )
    is_controller = "controller" in config.get_list("process.roles")
    is_static = bool(config.find_list("controller.quorum.voters"))
    if is_static and (is_standalone or initial_controllers is not None):
        raise FormatError(
            "You cannot specify controller.quorum.voters and format the node with"
            " --initial-controllers or --standalone. If you want to use dynamic quorum, please"
            " remove controller.quorum.voters and specify controller.quorum.bootstrap.servers"
            " instead."
        )
    name = config.get_list("controller.listener.names")[0]
    if initial_controllers is not None:
        return VoterSet.of(_read_voter(each, name) for each in initial_controllers.split(","))
    if is_standalone:
        if not is_controller:
            raise FormatError("You can only use --standalone on a controller.")
        found = endpoints(config).advertised_to_nodes[0]
        endpoint = Endpoint(found.listener, found.host or "localhost", found.port)
        key = ReplicaKey(config.node_id, own_id)
        return VoterSet.of([Voter(key, (endpoint,), SUPPORTED_VERSIONS)])
    if is_controller and not is_static and not is_without:
        raise FormatError(
            "Because controller.quorum.voters is not set on this controller, you must specify one"
            " of the following: --standalone, --initial-controllers, or --no-initial-controllers."
        )
    return None


def _read_voter(text: str, listener: str) -> Voter:
    """One of `--initial-controllers`: id@host:port:directory, where host may be [IPv6]."""
    replica_id, _, rest = text.strip().partition("@")
    address, _, directory = rest.rpartition(":")
    host, _, port = address.rpartition(":")
    try:
        key = ReplicaKey(int(replica_id), parse_uuid(directory))
        endpoint = Endpoint(listener, host.strip("[]"), int(port))
    except ValueError:
        raise FormatError(f"{text!r} is not of the form id@host:port:directory") from None
    if not endpoint.host or key.id < 0:
        raise FormatError(f"{text!r} is not of the form id@host:port:directory")
    return Voter(key, (endpoint,), SUPPORTED_VERSIONS)


def _read_feature(text: str) -> tuple[str, int]:
    name, equals, level = text.partition("=")
    if not equals or not level.isdecimal():
        raise FormatError(f"Can't parse feature=level string {text}: it is not NAME=LEVEL")
    return name, int(level)


def _format(
    config: BrokerConfig,
    beginning: Beginning,
    own_id: Uuid,
    levels: dict[str, int],
    *,
    is_ignoring: bool,
) -> None:
    disk = LocalDisk()
    metadata_directory = config.metadata_log_directory
    unformatted = []
    for directory in dict.fromkeys((*config.log_directories, metadata_directory)):
        found = find_identity(disk, os.path.abspath(directory), config.node_id)
        if found is None:
            unformatted.append(directory)
        elif found.cluster_id != beginning.cluster_id:
            raise FormatError(
                f"Invalid cluster.id in: {directory}/meta.properties. Expected"
                f" {beginning.cluster_id}, but read {found.cluster_id}"
            )
        elif not is_ignoring:
            raise FormatError(
                f"Log directory {directory} is already formatted. Use --ignore-formatted to"
                " ignore this directory and format the others."
            )
    if not unformatted:
        click.echo("All of the log directories are already formatted.")
    for directory in unformatted:
        is_metadata = directory == metadata_directory
        version = MetadataVersion(levels[METADATA_VERSION])
        click.echo(f"Formatting {directory} with metadata.version {version}.")
        format_directory(
            disk,
            os.path.abspath(directory),
            config.node_id,
            _directory_id(config, beginning, own_id) if is_metadata else _random_id(),
            beginning,
            has_metadata=is_metadata,
            now_ms=time.time_ns() // 1_000_000,
        )


def _directory_id(config: BrokerConfig, beginning: Beginning, own_id: Uuid) -> Uuid:
    """That of the voter that this node is, where it is one from the beginning."""
    voter = None if beginning.voters is None else beginning.voters.find(config.node_id)
    return own_id if voter is None else voter.key.directory_id


def _random_id() -> Uuid:
    return random_uuid(random.SystemRandom())
