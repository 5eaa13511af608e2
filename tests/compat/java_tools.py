"""Apache Kafka's own tools, as `kafka-*.sh` start them, but many in one process."""

import json
import subprocess

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram, classpath

TOOLS = "org.apache.kafka.tools"
CONFIG_COMMAND = "kafka.admin.ConfigCommand"


class Tools:
    """Kafka's tools against one broker, in one running machine of Java's."""

    def __init__(self, broker: BrokerProcess, program: JavaProgram) -> None:
        self.bootstrap = ("--bootstrap-server", broker.bootstrap)
        self._program = program

    def __call__(self, name: str, *arguments: str, text: str = "", fails: bool = False) -> str:
        """As `run_tool`, told where the broker is."""
        return run_tool(self._program, name, *self.bootstrap, *arguments, text=text, fails=fails)

    def alone(self, name: str, *arguments: str) -> str:
        """In a process of its own, for a tool that does its last things when its process ends."""
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


def running_tools() -> JavaProgram:
    """The machine that runs them. A context manager."""
    return JavaProgram(JAVA_SOURCES / "Tools.java")


def run_tool(
    program: JavaProgram, name: str, *arguments: str, text: str = "", fails: bool = False
) -> str:
    """What a tool prints; it must end well, or is to fail."""
    tool = name if name.startswith("kafka.") else f"{TOOLS}.{name}"
    order = {"tool": tool, "arguments": arguments, "input": text}
    answer = json.loads(program.ask(json.dumps(order)))
    printed: str = answer["printed"]
    everything = printed + answer["complained"]
    assert (answer["status"] != 0) == fails, everything
    return everything if fails else printed
