"""The physical limit: a loop in C that receives and writes, or sends by sendfile (raw/serve.c).

It speaks Produce and Fetch of raw/load.c alone, so it takes part in those rows alone.
"""

from collections.abc import Sequence
from pathlib import Path

from bench.peers.built import raw_server


class Raw:
    name = "raw"
    settings = "none: a loop of system calls in C that checks and remembers nothing"
    keeps_files = True
    is_broker = False
    has_fixed_ports = False

    def install(self) -> str:
        raw_server()
        return "C"

    def prepare(self, directory: Path, port: int) -> None:
        """It makes its file itself."""

    def command(self, directory: Path, port: int) -> Sequence[str]:
        return [str(raw_server()), str(port), str(directory / "file")]

    def installed_bytes(self) -> int:
        return raw_server().stat().st_size
