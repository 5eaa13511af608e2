"""A broker in a process of its own, as a user starts it, for clients that we did not write."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

ADDRESS = re.compile(r"at (?:\x1b\[\d+m)*(127\.0\.0\.1:\d+)")
START_TIMEOUT_S = 60


class BrokerProcess:
    """`snakka serve` on a free port of this machine, or with a whole configuration of its own."""

    def __init__(
        self,
        directory: Path,
        *settings: str,
        config: Path | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        self._directory = directory
        self._config = config
        self._flags = [*flags, *(word for each in settings for word in ("--set", each))]
        self._port = 0
        self.bootstrap = ""
        self.log = directory / "broker.log"
        self._process: subprocess.Popen[bytes]

    def start(self) -> "BrokerProcess":
        """Serves the directory, on the same port again after a first time."""
        self._directory.mkdir(exist_ok=True)
        self.log.write_bytes(b"")
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "snakka", "serve"),
                    *self._where(),
                    *self._flags,
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.bootstrap = self._wait_for_address()
        self._port = int(self.bootstrap.rpartition(":")[2])
        return self

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """As Ctrl-C does; it must end well."""
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(timeout=START_TIMEOUT_S)
        assert status == 0, self.log.read_text()

    def wait(self) -> int:
        """The status that it ends with, of its own accord."""
        return self._process.wait(timeout=START_TIMEOUT_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "BrokerProcess":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.stop()
        else:
            self.kill()

    def _where(self) -> list[str]:
        if self._config is not None:
            return ["--config", str(self._config)]
        data = str(self._directory / "data")
        return ["--data", data, "--listen", f"127.0.0.1:{self._port}"]

    def _wait_for_address(self) -> str:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            found = ADDRESS.search(self.log.read_text())
            if found is not None:
                return found[1]
            assert self._process.poll() is None, self.log.read_text()
            time.sleep(0.01)
        self.kill()
        raise AssertionError(f"no broker after {START_TIMEOUT_S} s: {self.log.read_text()}")


def resident_mib(pid: int, what: str = "VmRSS") -> float:
    """What a process has in memory now; `VmHWM` is the most that it had."""
    status = Path(f"/proc/{pid}/status").read_text()
    (found,) = [line.split()[1] for line in status.splitlines() if line.startswith(f"{what}:")]
    return int(found) / 1024
