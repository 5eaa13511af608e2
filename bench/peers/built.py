"""The programs of the benchmark that are not Python: compiled on first use, kept in `.cache`."""

import subprocess
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from bench.peers.peer import NotInstallableError
from tests.compat.client_programs import cached
from tests.compat.java_oracle import CACHE

HERE = Path(__file__).parent
_RAW = HERE / "raw"
_RDKAFKA = (HERE / "rdkafka.c", HERE / "rdkafka.h")


def raw_loader() -> Path:
    return cached("bench-raw-load", [_RAW / "load.c"], _compile_raw) / "load"


def raw_server() -> Path:
    return cached("bench-raw-serve", [_RAW / "serve.c"], _compile_raw_server) / "serve"


def rdkafka() -> Path:
    return cached("bench-rdkafka", [*_RDKAFKA, _librdkafka()], _compile_rdkafka) / "rdkafka"


def _compile_raw(directory: Path) -> None:
    _compile(_RAW / "load.c", directory / "load")


def _compile_raw_server(directory: Path) -> None:
    _compile(_RAW / "serve.c", directory / "serve")


def _compile_rdkafka(directory: Path) -> None:
    library = _librdkafka()
    _compile(
        *(_RDKAFKA[0], directory / "rdkafka"),
        *(str(library), f"-Wl,-rpath,{library.parent}", "-lpthread"),
    )


def _compile(source: Path, program: Path, *libraries: str) -> None:
    command = ["cc", "-O2", "-Wall", "-Wextra", "-o", str(program), str(source), *libraries]
    run(command)


def _librdkafka() -> Path:
    """The library that confluent-kafka's wheel brings along."""
    wheel = distribution("confluent-kafka")
    (library,) = (each for each in wheel.files or () if each.match("librdkafka-*.so*"))
    return Path(str(wheel.locate_file(library)))


def run(command: list[str], directory: Path | None = None) -> None:
    """It ends well, or what wanted it cannot be had."""
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotInstallableError(f"{command[0]} is not on the path") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotInstallableError(f"{command[0]} {command[1]}: {''.join(last)}")


def cargo_install(program: str, version: str, *what: str) -> Path:
    """The release build of a program, with the dependencies that its publisher locked."""
    root = CACHE / f"bench-{program}-{version}"
    installed = root / "bin" / program
    if not installed.exists():
        print(f"{program} {version} is built by cargo, which takes long the first time")
        with tempfile.TemporaryDirectory(dir=CACHE) as target:
            build = ("--root", str(root), "--target-dir", target, "--locked")
            run(["cargo", "install", "--quiet", *build, *what])
    return installed
