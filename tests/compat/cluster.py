"""Several nodes as processes of their own, formatted and started as a user does it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

CLUSTER = "ZZZZZZZZQZGZZZZZZZZZZg"
START_TIMEOUT_S = 30


def free_ports(count: int) -> list[int]:
    """Ports that nobody has just now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@dataclass
class NodeProcess:
    """One node: its file of settings, its directory, and its process while there is one."""

    directory: Path
    node_id: int
    roles: str
    controller_port: int = 0
    broker_port: int = 0
    settings: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        listeners = []
        if "broker" in self.roles:
            listeners.append(f"PLAINTEXT://127.0.0.1:{self.broker_port}")
        if "controller" in self.roles:
            listeners.append(f"CONTROLLER://127.0.0.1:{self.controller_port}")
        lines = (
            f"node.id={self.node_id}",
            f"process.roles={self.roles}",
            f"listeners={','.join(listeners)}",
            "controller.listener.names=CONTROLLER",
            f"log.dirs={self.directory}/data",
            *self.settings,
        )
        self.config.write_text("\n".join(lines) + "\n")

    @property
    def config(self) -> Path:
        return self.directory / "server.properties"

    @property
    def log(self) -> Path:
        return self.directory / "node.log"

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.broker_port}"

    @property
    def controller(self) -> str:
        return f"127.0.0.1:{self.controller_port}"

    def format(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "snakka", "format", "-t", CLUSTER, "-c", str(self.config)]
        subprocess.run([*command, *arguments], check=True, capture_output=True)

    def command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "snakka", "serve"),
            *("--config", str(self.config), "--log-level", "info"),
        ]

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=subprocess.STDOUT, env={**os.environ}
            )

    def stop(self) -> None:
        """As Ctrl-C does; it must end well."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=START_TIMEOUT_S) == 0, self.log.read_text()
        self.process = None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def wait_until_serving(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while "cluster " not in self.log.read_text():
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
