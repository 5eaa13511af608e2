"""What README and docs/ show is run, and what they list is what the code has."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (page.name, text)
        for page in PAGES
        for found, text in BLOCK.findall(page.read_text())
        if found == language
    ]


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_python_examples_run(page: str, code: str) -> None:
    exec(compile(code, page, "exec"), {"__name__": "example"})


@pytest.mark.parametrize(
    "command", [line for _, text in blocks("sh") for line in text.splitlines()]
)
def test_commands_run(command: str) -> None:
    # `make test` is what runs this test: here make only says what it would do.
    arguments = ["-n"] if command == "make test" else []
    program, *words = command.split()
    ran = subprocess.run(
        [program, *arguments, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_generated_parts_are_up_to_date() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
