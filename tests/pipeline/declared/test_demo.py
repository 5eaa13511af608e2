"""`snakka demo --once`, as `make run ONESHOT=1` calls it, and where there is no Java."""

import os
import subprocess
import sys
from pathlib import Path

from snakka.cli.spark import WITHOUT_JAVA
from tests.compat.java_oracle import require


def demo(directory: Path, status: int = 0, **environment: str) -> str:
    words = ("demo", "--once", "--seconds", "2", "--listen", "127.0.0.1:0")
    ran = subprocess.run(
        [sys.executable, "-m", "snakka", *words, "--data", str(directory / "data")],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert (ran.stderr == "") is (status == 0)
    return ran.stdout


def test_a_topic_becomes_a_table_while_it_is_fed(tmp_path: Path) -> None:
    require("java")
    said = demo(tmp_path)
    assert "Snakka serves Kafka clients at 127.0.0.1:" in said
    assert "table orders: " in said
    assert "lag 0" in said
    assert "rows, each record where it belongs, once" in said
    assert (tmp_path / "snakka-demo" / "orders" / "_delta_log").is_dir()


def test_without_java_it_serves_and_says_what_to_install(tmp_path: Path) -> None:
    said = demo(tmp_path, PATH="/nowhere", JAVA_HOME="")
    assert "Snakka serves Kafka clients at 127.0.0.1:" in said
    assert WITHOUT_JAVA in said


def test_a_pipeline_that_ends_too_early_is_told_and_is_a_failure(tmp_path: Path) -> None:
    java = tmp_path / "java"  # one that does not start
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    said = demo(tmp_path, 1, PATH=f"{tmp_path}:{os.environ['PATH']}", JAVA_HOME="")
    assert "The pipeline has ended too early" in said
