"""What the benchmark asks of a broker that takes part: how to get it, how to start it.

Each peer is started with what its own documentation recommends for one node; `settings` says so in
the report. Not here: the peers (brokers/), a running one (running.py).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class NotInstallableError(Exception):
    """A peer cannot be had on this machine, and why. The report says so."""


class Peer(Protocol):
    name: str
    settings: str
    keeps_files: bool  # what it is given lies in files, and outlives it
    has_fixed_ports: bool  # so that two of them cannot run at a time
    is_broker: bool  # not the raw loop, which answers a few requests of one program

    def install(self) -> str:
        """Makes it ready to start, on first use; the version that it is."""

    def prepare(self, directory: Path, port: int) -> None:
        """An empty directory becomes one that it can be started on."""

    def command(self, directory: Path, port: int) -> Sequence[str]:
        """What serves `directory` at this port of the loopback interface."""

    def installed_bytes(self) -> int:
        """What was installed for it takes on disk, without the runtime of its language."""


def bytes_below(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    files = (each for each in path.rglob("*") if each.is_file() and not each.is_symlink())
    return sum(each.stat().st_size for each in files)
