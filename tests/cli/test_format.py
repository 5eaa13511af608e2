"""`snakka format`: what it writes, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from snakka.cli.main import main
from snakka.config.broker import BrokerConfig
from snakka.node.bootstrap_file import read_bootstrap
from snakka.node.formatting import find_identity
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.internal.metadata import FeatureLevelRecord, UserScramCredentialRecord
from snakka.protocol.types import format_uuid
from snakka.quorum.control_records import read_control_records
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT
from snakka.storage.disk import LocalDisk
from tests.cli.test_serve import refused

CLUSTER = "ZZZZZZZZQZGZZZZZZZZZZg"
DIRECTORY = "JEXY6aqzQY-32P5TStzaFg"


def invoke(data: Path, *arguments: str) -> Result:
    command = ["format", "--data", str(data), "--cluster-id", CLUSTER, *arguments]
    return CliRunner().invoke(main, command)


def run(data: Path, *arguments: str) -> str:
    ran = invoke(data, *arguments)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def refusal(data: Path, *arguments: str) -> str:
    ran = invoke(data, *arguments)
    assert ran.exit_code == 2, ran.output
    return ran.stderr


def test_a_standalone_controller_is_the_only_voter(tmp_path: Path) -> None:
    data = tmp_path / "data"
    said = run(data, "--standalone", "--set", "node.id=3", "--release-version", "4.0")
    assert f"Formatting {data} with metadata.version 4.0-IV3." in said
    disk = LocalDisk()
    identity = find_identity(disk, str(data), 3)
    assert identity is not None
    assert identity.cluster_id == CLUSTER
    snapshot = SnapshotFiles(disk, f"{data}/__cluster_metadata-0").read(
        BOOTSTRAP_SNAPSHOT, 0, 1 << 20
    )
    messages = [each.message for each in read_control_records(snapshot)]
    voters = messages[2].voters  # type: ignore[attr-defined]
    assert [(each.voter_id, each.voter_directory_id) for each in voters] == [
        (3, identity.directory_id)
    ]
    records = read_bootstrap(disk, str(data))
    assert records is not None
    assert records[0] == FeatureLevelRecord(name="metadata.version", feature_level=25)


def test_initial_controllers_give_a_voter_its_directory_id(tmp_path: Path) -> None:
    controllers = f"1@one:9093:{DIRECTORY},2@[::1]:9093:MvDxzVmcRsaTz33bUuRU6A"
    run(tmp_path / "1", "-I", controllers)
    run(tmp_path / "2", "-I", controllers, "--set", "node.id=2")
    run(tmp_path / "3", "-I", controllers, "--set", "node.id=3")
    ids = []
    for node_id in (1, 2, 3):
        identity = find_identity(LocalDisk(), f"{tmp_path}/{node_id}", node_id)
        assert identity is not None
        ids.append(format_uuid(identity.directory_id))
        assert (tmp_path / str(node_id) / "__cluster_metadata-0").is_dir()
    assert ids[:2] == [DIRECTORY, "MvDxzVmcRsaTz33bUuRU6A"]
    assert len(set(ids)) == 3


def test_several_directories_have_ids_of_their_own(tmp_path: Path) -> None:
    dirs = f"log.dirs={tmp_path}/a,{tmp_path}/b"
    run(tmp_path, "-s", "--set", dirs, "--set", f"metadata.log.dir={tmp_path}/b")
    found = [find_identity(LocalDisk(), f"{tmp_path}/{each}", 1) for each in "ab"]
    assert len({each.directory_id for each in found if each}) == 2
    assert [(tmp_path / each / "__cluster_metadata-0").exists() for each in "ab"] == [False, True]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    run(tmp_path / "a", "-s")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "is already formatted" in refusal(tmp_path / "a", "-s")
    assert "already formatted" in run(tmp_path / "a", "-s", "--ignore-formatted")
    other = ("--cluster-id", "another", "--ignore-formatted", "-s")
    assert f"but read {CLUSTER}" in refusal(tmp_path / "a", *other)
    assert "is of node.id=1, not 2" in refusal(tmp_path / "a", "-s", "-g", "--set", "node.id=2")
    dirs = f"log.dirs={tmp_path}/a,{tmp_path}/b"
    assert "Formatting" in run(tmp_path / "a", "-s", "-g", "--set", dirs)
    assert before.items() <= {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}.items()


def test_credentials_are_kept_as_keys(tmp_path: Path) -> None:
    run(
        tmp_path / "a",
        *("-s", "-S", "SCRAM-SHA-256=[name=alice,password=alice-secret]", "-S"),
        'SCRAM-SHA-512=[name=bob,iterations=8192,salt="N3E=",saltedpassword="YCE="]',
    )
    records = read_bootstrap(LocalDisk(), str(tmp_path / "a")) or []
    alice, bob = (each for each in records if isinstance(each, UserScramCredentialRecord))
    assert (alice.name, alice.mechanism, alice.iterations) == ("alice", 1, 4096)
    assert (bob.name, bob.mechanism, bob.iterations, bob.salt) == ("bob", 2, 8192, b"7q")
    assert b"alice-secret" not in (tmp_path / "a" / "bootstrap.checkpoint").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "must specify one of the following: --standalone"),
        (["-s", "-N"], "exclude each other"),
        (["-s", "-f", "nope=1"], "Unsupported feature: nope"),
        (["-s", "-f", "nope"], "it is not NAME=LEVEL"),
        (["-s", "-r", "9.9"], "Unknown metadata.version '9.9'"),
        (["-I", "1@a:1:xx"], "is not of the form id@host:port:directory"),
        (["-I", "1@a:1"], "is not of the form id@host:port:directory"),
        (["-s", "--set", "controller.quorum.voters=1@a:1"], "specify controller.quorum.voters"),
        (["-s", "-S", "SCRAM-SHA-1=[name=a,password=b]"], "mechanism SCRAM-SHA-1 is not supported"),
        (["-s", "-S", "SCRAM-SHA-256=[password=b]"], "You must supply 'name'"),
        (["-s", "-S", "SCRAM-SHA-256=[name=a,saltedpassword=YCE=]"], "'salt' with"),
        (["-s", "-S", "SCRAM-SHA-256=[name=a,password=b,iterations=5]"], "Too few iterations"),
        (["-s", "-S", "SCRAM-SHA-256=[name=a,password=b]", "-r", "3.5-IV1"], "3.5-IV2 or later"),
        (["-s", "--set", "node.idd=1"], "did you mean node.id"),
        (["-s", "--cluster-id", "a b"], "is no cluster id"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    assert complaint in refusal(tmp_path / "data", *arguments)
    assert not (tmp_path / "data" / "meta.properties").exists()


@pytest.mark.parametrize(
    "settings",
    [
        ["controller.quorum.bootstrap.servers=127.0.0.1:1"],
        ["controller.quorum.voters=1@127.0.0.1:1"],
    ],
)
def test_a_node_that_names_others_begins_no_cluster_of_its_own(  # pitfall 26
    tmp_path: Path, settings: list[str]
) -> None:
    flags = [word for each in settings for word in ("--set", each)]
    said = refused("serve", "--data", str(tmp_path / "data"), *flags)
    assert "is not formatted" in said
    assert "snakka format" in said


def test_the_metadata_directory_is_the_first_unless_set() -> None:
    static = {"node.id": "1", "process.roles": "controller", "log.dirs": "/a,/b"}
    assert BrokerConfig(static).metadata_log_directory == "/a"
    assert BrokerConfig({**static, "metadata.log.dir": "/c"}).metadata_log_directory == "/c"
