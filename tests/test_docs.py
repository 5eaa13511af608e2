"""What README and docs/ show is run, and what they list is what the code has."""

import os
import re
import signal
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


def test_the_quick_start_is_two_commands() -> None:
    commands = [line for _, text in blocks("sh") for line in text.splitlines()]
    assert commands == ["make run", "make test"]
    for command in commands:
        # `make test` runs this very test: make only says what it would do.
        ran = subprocess.run(
            ["make", "-n", command.split()[1]],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr


def test_make_run_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    serving = subprocess.Popen(
        ["make", "--directory", ROOT, "run", f"ARGS=--data {tmp_path}/data --listen 127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    try:
        said = next(line for line in serving.stdout if "Snakka serves" in line)
        assert "127.0.0.1:" in said
    finally:
        child = subprocess.run(
            ["pgrep", "--parent", str(serving.pid)], capture_output=True, text=True, check=True
        )
        os.kill(int(child.stdout.split()[0]), signal.SIGINT)
        assert serving.wait(20) == 0
        serving.stdout.close()


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
