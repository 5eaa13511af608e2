"""One broker while it runs, and what the kernel says that it takes."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.peers.peer import Peer
from tests.compat.broker_process import resident_mib
from tests.compat.cluster import free_ports

START_TIMEOUT_S: Final = 120
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


class BrokerDiedError(Exception):
    """A broker ended on its own, and the last that it said."""


class Running:
    """A broker on a directory of its own."""

    def __init__(self, peer: Peer, directory: Path) -> None:
        self.peer = peer
        self.directory = directory
        (self.port,) = free_ports(1)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._log = directory / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._prepare()

    def start(self) -> None:
        """Returns as soon as it accepts connections."""
        command = self.peer.command(self.directory, self.port)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.directory, preexec_fn=_many_files
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._accepts():
            self.check()
            if time.monotonic() > deadline:
                raise BrokerDiedError(f"{self.peer.name} does not listen: {self._last_words()}")
            time.sleep(0.005)

    def renew(self) -> None:
        """Another one in its place, on fresh data."""
        self.kill()
        shutil.rmtree(self.directory)
        self._prepare()
        self.start()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def check(self) -> None:
        """It is still there."""
        if self._process is None or self._process.poll() is not None:
            raise BrokerDiedError(f"{self.peer.name} ended: {self._last_words()}")

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def cpu_s(self) -> float:
        """The processor's time that it has had so far, of all its threads, kernel and own."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND

    def resident_mib(self) -> float:
        return resident_mib(self.pid)

    def peak_mib(self) -> float:
        return resident_mib(self.pid, "VmHWM")

    def _prepare(self) -> None:
        self.directory.mkdir(parents=True)
        self.peer.prepare(self.directory, self.port)

    def _accepts(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else "it said nothing"


def _many_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def forget_cached(paths: Sequence[Path]) -> None:
    """The files below are on disk and no longer in memory."""
    os.sync()
    for path in paths:
        for each in path.rglob("*"):
            if each.is_file():
                descriptor = os.open(each, os.O_RDONLY)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)
