"""Crabka: a broker in Rust, whose last release with code is withdrawn from Cargo's registry.

Cargo does not install what is withdrawn, so the programs have to be there: in the directory that is
named below, from a build of one's own.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.peers.peer import NotInstallableError, bytes_below
from tests.compat.java_oracle import CACHE

VERSION: Final = "0.3.8"
PROGRAMS: Final = CACHE / f"bench-crabka-{VERSION}" / "bin"
_CONTROLLER_PORT: Final = 9093  # whatever it is told


class Crabka:
    name = "crabka"
    settings = "release build; defaults, without its endpoint for metrics"
    keeps_files = True
    is_broker = True
    has_fixed_ports = True

    def install(self) -> str:
        for program in ("crabka", "crabka-broker"):
            if shutil.which(program, path=str(PROGRAMS)) is None:
                raise NotInstallableError(
                    f"it is withdrawn from Cargo's registry, and no {program} is in {PROGRAMS}"
                )
        return VERSION

    def prepare(self, directory: Path, port: int) -> None:
        listener = f"127.0.0.1:{_CONTROLLER_PORT}"
        words = ("--standalone", "--node-id", "1", "--controller-listener", listener)
        where = ("--log-dir", str(directory / "data"))
        format_ = [str(PROGRAMS / "crabka"), "format", *where, *words]
        subprocess.run(format_, check=True, capture_output=True)

    def command(self, directory: Path, port: int) -> Sequence[str]:
        return [
            *(str(PROGRAMS / "crabka-broker"), "--log-dir", str(directory / "data")),
            *("--listen-addr", f"127.0.0.1:{port}", "--metrics-listen-addr", ""),
        ]

    def installed_bytes(self) -> int:
        return bytes_below(PROGRAMS / "crabka-broker")
