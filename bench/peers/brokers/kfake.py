"""kfake: the broker in memory that the Go client franz-go is tested against."""

import re
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from bench.peers.built import run
from tests.compat.client_programs import cached

SOURCES = Path(__file__).with_name("kfake-go")


class Kfake:
    name = "kfake"
    settings = "defaults; one broker, everything in memory"
    keeps_files = False
    is_broker = True
    has_fixed_ports = False

    def install(self) -> str:
        _program()
        found = re.search(r"pkg/kfake v\S*-(\d{8})", (SOURCES / "go.mod").read_text())
        assert found is not None
        return found[1]

    def prepare(self, directory: Path, port: int) -> None:
        """It keeps nothing there."""

    def command(self, directory: Path, port: int) -> Sequence[str]:
        return [str(_program()), str(port)]

    def installed_bytes(self) -> int:
        return _program().stat().st_size


def _program() -> Path:
    return cached("bench-kfake", sorted(SOURCES.iterdir()), _build) / "kfake"


def _build(directory: Path) -> None:
    go = Path(sysconfig.get_path("scripts")) / "go"
    run([str(go), "build", "-o", str(directory / "kfake"), "."], SOURCES)
