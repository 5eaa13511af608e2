"""What holds for all commands: help with an example, lazy imports, one-line errors, completion."""

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from snakka.cli.main import COMMANDS, main
from tests.cli.running import Cli


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in commands(main)], ids=" ".join)
def test_help_shows_an_example_of_the_command(path: tuple[str, ...]) -> None:
    outcome = CliRunner().invoke(main, [*path, "--help"])
    assert outcome.exit_code == 0
    _, _, example = outcome.output.partition("Example:")
    assert " ".join(("snakka", *path)) in example


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_own_help_does(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.help is not None
    assert command.help.splitlines()[0] == COMMANDS[name].help


def imported(*words: str) -> set[str]:
    """The modules of ours, and of rich, that a command loads."""
    script = (
        "import sys\nfrom snakka.cli.main import main\n"
        f"try: main({list(words)!r})\nexcept SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {each for each in ran.stderr.splitlines() if each.startswith(("snakka.", "rich."))}


def test_the_list_of_commands_needs_neither_client_nor_broker() -> None:
    assert imported("--help") == {"snakka.cli", "snakka.cli.lazy", "snakka.cli.main"}


def test_a_client_command_needs_no_broker() -> None:
    loaded = imported("topics", "--help")
    assert "snakka.client.cluster" in loaded
    rooms = {each.split(".")[1] for each in loaded if each.startswith("snakka.")}
    assert rooms == {"cli", "client", "protocol"}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nonsense"], "No such command 'nonsense' (see `snakka --help`)"),
        (["topics", "list", "--nonsense"], "No such option"),
        (["topics", "list", "-b", "host:port"], "'host:port' is not HOST:PORT"),
        (["topics", "create", "x", "-c", "key"], "'key' is not NAME=VALUE"),
        (["consume", "x:y"], "'x:y' is not TOPIC or TOPIC:PARTITION"),
        (["consume", "x", "-o", "middle"], "'middle' is none of start, end"),
        (["consume", "x", "-o", "@yesterday"], "'yesterday' is neither milliseconds nor"),
        (["consume", "x", "-f", "%z"], "%z is not known in a format"),
        (["consume", "x", "-g", "g", "-o", "5"], "with a group -o is start or end"),
        (["consume", "x", "-n", "0"], "0 is not in the range"),
        (["configs", "describe", "broker", "one"], "'one' is no broker's id"),
        (["groups", "reset-offsets", "g"], "give one of --to-earliest"),
        (["groups", "reset-offsets", "g", "--to-earliest", "--to-latest"], "give one of"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(cli: Cli, words: list[str], complaint: str) -> None:
    assert complaint in cli.refused(*words, code=2)


def test_nobody_there_is_one_line_and_code_1(cli: Cli) -> None:
    line = cli.refused("topics", "list", "-b", "127.0.0.1:1", "--timeout", "0.3")
    assert line == "snakka: 127.0.0.1:1: Connection refused"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_the_shell_asks_snakka_with(shell: str) -> None:
    outcome = CliRunner().invoke(main, ["completion", shell])
    assert outcome.exit_code == 0
    assert "_SNAKKA_COMPLETE" in outcome.output


def test_completion_knows_commands_and_options() -> None:
    def complete(*words: str) -> str:
        line = " ".join(("snakka", *words))
        environment = {
            "_SNAKKA_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words)),
        }
        outcome = CliRunner().invoke(main, prog_name="snakka", env=environment)
        return outcome.output

    assert complete("to") == "plain,topics\n"
    assert complete("topics", "desc") == "plain,describe\n"
    assert "plain,--partitions" in complete("topics", "create", "--part")
