"""Snakka, as it stands in this tree."""

import compileall
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

import snakka
from bench.peers.peer import bytes_below


class Snakka:
    name = "snakka"
    settings = "defaults: `snakka serve`"
    keeps_files = True
    is_broker = True
    has_fixed_ports = False

    def install(self) -> str:
        # As pip does: what it installs is not compiled with each start.
        compileall.compile_dir(Path(snakka.__file__).parent, quiet=1)
        return distribution("snakka").version

    def prepare(self, directory: Path, port: int) -> None:
        """It formats its directory itself."""

    def command(self, directory: Path, port: int) -> Sequence[str]:
        data = str(directory / "data")
        return [
            sys.executable,
            "-m",
            "snakka",
            "serve",
            "--data",
            data,
            "--listen",
            f"127.0.0.1:{port}",
        ]

    def installed_bytes(self) -> int:
        """Snakka, and what pip brings along with it."""
        package = Path(snakka.__file__).parent
        return bytes_below(package) + sum(map(_bytes_of, _requirements("snakka", set())))


def _requirements(name: str, seen: set[str]) -> Iterator[Distribution]:
    for line in distribution(name).requires or []:
        required = Requirement(line)
        wanted = required.marker is None or required.marker.evaluate({"extra": ""})
        if wanted and required.name not in seen:
            seen.add(required.name)
            yield distribution(required.name)
            yield from _requirements(required.name, seen)


def _bytes_of(installed: Distribution) -> int:
    files = [Path(str(installed.locate_file(each))) for each in installed.files or []]
    return sum(each.stat().st_size for each in files if each.is_file())
