"""Apache Kafka's own tools, as `kafka-*.sh` start them, but many in one JVM."""

import json
import subprocess
from typing import Protocol

from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram, classpath

TOOLS = "org.apache.kafka.tools"
CONFIG_COMMAND = "kafka.admin.ConfigCommand"


class Reached(Protocol):
    """A node that is asked."""

    @property
    def bootstrap(self) -> str: ...


class JavaTools(JavaProgram):
    """Runs them against one node. A context manager."""

    def __init__(self, node: Reached, option: str = "--bootstrap-server") -> None:
        super().__init__(JAVA_SOURCES / "Tools.java")
        self.bootstrap = (option, node.bootstrap)

    def run(self, name: str, *arguments: str, text: str = "") -> str:
        """What a tool prints on reading `text`; it must end well."""
        return self.run_bare(name, *self.bootstrap, *arguments, text=text)

    def run_bare(self, name: str, *arguments: str, text: str = "") -> str:
        """One that wants the broker's address elsewhere among its arguments, or not at all."""
        status, printed, complained = self._run(name, arguments, text)
        assert status == 0, printed + complained
        return printed

    def refusal(self, name: str, *arguments: str) -> str:
        """What a tool prints that does not get what it asks for."""
        _, printed, complained = self._run(name, (*self.bootstrap, *arguments), "")
        return printed + complained

    def run_alone(self, name: str, *arguments: str) -> str:
        """In a process of its own: some do their last things when that ends."""
        ran = subprocess.run(
            [
                *("java", "-XX:TieredStopAtLevel=1", "-cp", classpath(), f"{TOOLS}.{name}"),
                *(*self.bootstrap, *arguments),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def _run(self, name: str, arguments: tuple[str, ...], text: str) -> tuple[int, str, str]:
        tool = name if name == CONFIG_COMMAND else f"{TOOLS}.{name}"
        order = {"tool": tool, "words": arguments, "input": text}
        answer = json.loads(self.ask(json.dumps(order)))
        return answer["status"], answer["printed"], answer["complained"]
