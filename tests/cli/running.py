"""Commands in the test's own process, against a broker in a thread of it."""

import json
from typing import Any

from click.testing import CliRunner

from snakka.cli.main import main
from snakka.testing import Broker


class Cli:
    """`snakka` with a broker's address in the environment."""

    def __init__(self, broker: Broker) -> None:
        self._environment = {"SNAKKA_BOOTSTRAP": broker.bootstrap_servers, "COLUMNS": "100"}

    def __call__(self, *words: str, stdin: str | bytes | None = None) -> str:
        """What a command prints that goes well."""
        outcome = CliRunner().invoke(main, words, env=self._environment, input=stdin)
        assert outcome.exit_code == 0, outcome.output
        return outcome.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))

    def said(self, *words: str, stdin: str | bytes | None = None) -> str:
        """What a command that goes well says on standard error."""
        outcome = CliRunner().invoke(main, words, env=self._environment, input=stdin)
        assert outcome.exit_code == 0, outcome.output
        return outcome.stderr

    def refused(self, *words: str, code: int = 1, stdin: str | bytes | None = None) -> str:
        """The one line in which a command says why not."""
        outcome = CliRunner().invoke(main, words, env=self._environment, input=stdin)
        assert outcome.exit_code == code, outcome.output
        (line,) = outcome.stderr.splitlines()
        assert line.startswith("snakka: ")
        return line
