"""Java programs that the tests ask for the truth: kept running, one line in, one line out.

The jars come from java/pom.xml by way of Maven into the git-ignored `.cache`. Where a tool is
missing the test is skipped with a sentence how to get it; in CI nothing is skipped, it fails.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import pytest

JAVA_SOURCES = Path(__file__).parent / "java"
CACHE = Path(__file__).parents[2] / ".cache"
JARS = CACHE / "jars"
KAFKA = JAVA_SOURCES / "pom.xml"
CLIENTS_3_9 = JAVA_SOURCES / "clients-3.9" / "pom.xml"
CLASSES = CACHE / "java"

_HOW_TO_GET = {
    "java": "install a JDK 17 or newer, for example `apt install openjdk-17-jdk-headless`",
    "javac": "install a JDK 17 or newer, for example `apt install openjdk-17-jdk-headless`",
    "mvn": "install Maven, for example `apt install maven`",
}


def require(*tools: str) -> None:
    """Skips the test where a tool is missing; in CI it fails instead."""
    for tool in tools:
        if shutil.which(tool) is None:
            missing(f"{tool} is not on the path: {_HOW_TO_GET.get(tool, f'install {tool}')}")


def missing(sentence: str) -> NoReturn:
    """Skips the test and says what it would need; in CI it fails instead."""
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


def classpath(pom: Path = KAFKA) -> str:
    """All jars of a pom.xml, fetched on first use and after each change of it."""
    jars = JARS if pom == KAFKA else CACHE / f"jars-{pom.parent.name}"
    wanted = hashlib.sha256(pom.read_bytes()).hexdigest()
    resolved = jars.with_name(f"{jars.name}.resolved")
    CACHE.mkdir(exist_ok=True)
    with jars.with_name(f"{jars.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other test processes want them too
        if not resolved.exists() or resolved.read_text() != wanted:
            require("mvn")
            shutil.rmtree(jars, ignore_errors=True)
            _resolve_jars(pom, jars)
            resolved.write_text(wanted)
    return os.pathsep.join(str(jar) for jar in sorted(jars.glob("*.jar")))


def _resolve_jars(pom: Path, jars: Path) -> None:
    fetched = subprocess.run(
        [
            *("mvn", "-q", "-f", str(pom), "dependency:copy-dependencies"),
            f"-DoutputDirectory={jars}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if fetched.returncode:
        missing(f"Maven could not fetch the jars of {pom}: {fetched.stdout}{fetched.stderr}")


def compile_java(source: Path) -> Path:
    """The directory with the classes of `source`, which is named after what they come from."""
    require("javac")
    jars = classpath()
    digest = hashlib.sha256(source.read_bytes() + jars.encode()).hexdigest()[:16]
    directory = CLASSES / f"{source.stem}-{digest}"
    if not directory.exists():
        CLASSES.mkdir(parents=True, exist_ok=True)
        # Renamed when complete: another worker may be compiling, or running, the same classes.
        with tempfile.TemporaryDirectory(dir=CLASSES) as work:
            classes = Path(work) / "classes"
            _javac(source, jars, classes)
            with suppress(OSError):
                classes.rename(directory)
    return directory


def _javac(source: Path, jars: str, classes: Path) -> None:
    compiled = subprocess.run(
        ["javac", "-nowarn", "-cp", jars, "-d", str(classes), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if compiled.returncode:
        pytest.fail(f"javac {source}:\n{compiled.stderr}")


class JavaProgram:
    """A running `main` of one source file, which answers every line with one line."""

    def __init__(self, main_class_source: Path) -> None:
        require("java")
        path = os.pathsep.join((str(compile_java(main_class_source)), classpath()))
        self._name = main_class_source.stem
        self._process = subprocess.Popen(
            ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", path, self._name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._name} ended with status {self._process.wait()} on: {line}")
        return answer.rstrip("\n")

    def close(self) -> None:
        self._process.communicate()

    def kill(self) -> None:
        """As SIGKILL leaves it."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
