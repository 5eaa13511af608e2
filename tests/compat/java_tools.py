"""Apache Kafka's own tools, as `kafka-*.sh` start them, but many in one JVM."""

import base64

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

TOOLS = "org.apache.kafka.tools"
CONFIG_COMMAND = "kafka.admin.ConfigCommand"


class JavaTools(JavaProgram):
    """Runs them against one broker. A context manager."""

    def __init__(self, broker: BrokerProcess) -> None:
        super().__init__(JAVA_SOURCES / "Tools.java")
        self._bootstrap = broker.bootstrap

    def run(self, name: str, *arguments: str) -> str:
        """What a tool prints; it must end well."""
        status, printed = self._run(name, arguments)
        assert status == 0, printed
        return printed

    def refusal(self, name: str, *arguments: str) -> str:
        """What a tool prints that does not get what it asks for."""
        return self._run(name, arguments)[1]

    def _run(self, name: str, arguments: tuple[str, ...]) -> tuple[int, str]:
        main_class = name if "." in name else f"{TOOLS}.{name}"
        words = [main_class, "--bootstrap-server", self._bootstrap, *arguments]
        status, _, printed = self.ask("\t".join(words)).partition(" ")
        return int(status), base64.b64decode(printed).decode()
