"""Tansu: a broker in Rust whose storage is somebody else's; here its default, memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.peers.built import cargo_install

VERSION: Final = "0.6.0"


class Tansu:
    name = "tansu"
    settings = "release build; the default storage, memory"
    keeps_files = False
    is_broker = True
    has_fixed_ports = False

    def install(self) -> str:
        _program()
        return VERSION

    def prepare(self, directory: Path, port: int) -> None:
        """It keeps nothing there."""

    def command(self, directory: Path, port: int) -> Sequence[str]:
        url = f"tcp://127.0.0.1:{port}"
        return [
            *(str(_program()), "broker", "--storage-engine", "memory://tansu/"),
            *("--kafka-listener-url", url, "--kafka-advertised-listener-url", url),
        ]

    def installed_bytes(self) -> int:
        return _program().stat().st_size


def _program() -> Path:
    features = ("--no-default-features", "--features", "dynostore")
    return cargo_install("tansu", VERSION, "--version", VERSION, "tansu", *features)
