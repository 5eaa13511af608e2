"""`snakka pipeline`: what the commands print, and how they refuse."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from snakka.cli.declared import one_line
from snakka.cli.main import main
from snakka.cli.spark import WITHOUT_JAVA
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import orders
from tests.pipeline.topics import Row, make_topic, produce

DECLARATION = """
name = "{topic}"
dead_letter_topic = "{dead}"
checkpoint = "checkpoint"

[options]
bootstrap.servers = "{bootstrap}"

[[sources]]
topics = ["{topic}"]
[sources.value]
format = "json"
schema = "id BIGINT NOT NULL, name STRING"

[transform]
sql = "SELECT *, id % 2 AS parity FROM source"

[checks]
"id is small" = "id < 1000"

[table]
location = "table"
partition_by = ["parity"]
"""


@pytest.fixture
def file(broker: BrokerProcess, tmp_path: Path) -> Path:
    """A declaration, whose topic has twelve good records and two bad ones."""
    topic, dead = make_topic(broker.bootstrap, 2), make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [*orders(6), Row(value=b"bad"), *orders(6, 6, 1)])
    produce(broker.bootstrap, topic, orders(1, 5000))
    path = tmp_path / "orders.toml"
    path.write_text(DECLARATION.format(topic=topic, dead=dead, bootstrap=broker.bootstrap))
    return path


def ask(*words: str, code: int = 0) -> Result:
    outcome = CliRunner().invoke(main, ["pipeline", *words])
    assert outcome.exit_code == code, outcome.output
    assert "Traceback" not in outcome.output
    return outcome


def asked(*words: str) -> Any:
    return json.loads(ask(*words, "--json").stdout)


def test_a_pipeline_runs_and_is_looked_at(
    spark: SparkSession, broker: BrokerProcess, file: Path
) -> None:
    before = asked("status", str(file))
    assert [(each["offset"], each["lag"]) for each in before] == [(None, 8), (None, 6)]
    assert "has not written anything yet" in ask("audit", str(file), code=2).stderr

    ran = ask("run", str(file), "--once", "--json")
    (step,) = map(json.loads, ran.stdout.splitlines())
    assert (step["rows"], step["rejected"], step["lag"]) == (12, 2, 0)

    assert [each["lag"] for each in asked("status", str(file))] == [0, 0]
    assert "LAG" in ask("status", str(file)).stdout
    told = ask("audit", str(file)).stdout
    assert "12 rows, each record where it belongs, once" in told
    ran = ask("run", str(file), "--once")
    assert ran.stdout == ""  # nothing new

    topic = before[0]["topic"]
    again = make_topic(broker.bootstrap)
    offsets = json.dumps({topic: {"0": 4, "1": 5}})
    assert asked("replay", str(file), again, "--starting", offsets)["records"] == 5
    assert asked("replay", str(file), again, "--rows", "--starting", offsets)["records"] == 3
    assert "one of the sources" in ask("replay", str(file), topic, code=2).stderr

    assert asked("compact", str(file))["removed_files"] >= 0
    for upkeep in ("expire", "sweep"):
        assert asked(upkeep, str(file), "--older-than", "1h")["removed_files"] == 0
    assert "is not a duration" in ask("sweep", str(file), "--older-than", "x", code=2).stderr
    found = asked("audit", str(file))
    assert [each["rows"] for each in found["partitions"]] == [6, 6]
    assert found["findings"] == []


def test_ctrl_c_ends_a_run_cleanly(file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "snakka", "pipeline", "run", str(file), "--master", "local[2]"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert line.startswith("batch 0: 12 rows, 2 rejected in "), line
        # As a terminal does it: to all processes, those of Spark too.
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=120)
        assert said == ""
        assert running.returncode == 0
    finally:
        running.kill()


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(
        """
name = "my orders"
triger = "10s"
trigger = "often"

[options]
maxOffsetsPerTriger = 5
subscribe = "x"

[[sources]]
topics = "orders"
starting = "erliest"
[sources.value]
format = "jsn"

[table]
formt = "delta"
"""
    )
    said = ask("run", str(file), code=2).stderr
    lines = said.splitlines()
    assert all(line.startswith(f"snakka: {file}: ") for line in lines)
    for told in (
        "triger=10s: there is no such key; did you mean trigger?",
        "trigger=often: it is not a duration",
        "sources[0].topics=orders: it is not a list",
        "sources[0].value.format=jsn: it is none of json, avro, protobuf, string, raw",
        "table.formt=delta: there is no such key; did you mean format?",
        "table.location: it must be given",
        "name=my orders: it may have up to 100 letters",
        "options.maxOffsetsPerTriger=5: there is no option maxOffsetsPerTriger; did you mean",
        "options.subscribe=x: the pipeline says this elsewhere",
        "options.bootstrap.servers: it must be given",
        "sources[0].starting=erliest: it is none of earliest, latest, offsets in JSON and an",
    ):
        assert told in said, told
    assert len(lines) == 11


def test_what_does_not_fit_together_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(
        """
name = "orders"
coordinates = false
options.bootstrap.servers = "127.0.0.1:1"

[[sources]]
topics = ["orders", "orders"]
[sources.value]
format = "avro"

[checks]
any = "true"

[table]
format = "delta"
location = "table"
[table.properties]
"delta.chekpointInterval" = "5"
"""
    )
    said = ask("run", str(file), code=2).stderr
    for told in (
        "coordinates: checks need them",
        "sources.topics=orders: a topic can be read once only",
        "sources[0].value.schema_file: avro has a schema_file",
        "did you mean delta.checkpointInterval?",
    ):
        assert told in said, told


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('"SELECT *, id % 2 AS parity FROM source"', '"SELECT *, nam FROM source"'), "nam"),
        (('"SELECT *, id % 2 AS parity FROM source"', '"SELEC 1"'), "Syntax error"),
        (('"SELECT *, id % 2 AS parity FROM source"', '"SELECT id FROM source"'), "_topic"),
        (('sql = "SELECT *, id % 2 AS parity FROM source"', 'function = "nowhere:f"'), "nowhere"),
        (('"id BIGINT NOT NULL, name STRING"', '"id BIGNT"'), "id BIGNT"),
        (('["parity"]', '["day"]'), "partition_by=day"),
        (('"id < 1000"', '"ident < 1000"'), "ident"),
    ],
)
def test_what_spark_would_stumble_over_is_told_before_anything_is_read(
    spark: SparkSession, file: Path, change: tuple[str, str], complaint: str
) -> None:
    assert change[0] in file.read_text()
    file.write_text(file.read_text().replace(*change))
    said = ask("run", str(file), "--once", code=2).stderr
    assert complaint in said
    assert len(said.splitlines()) == 1


def test_without_java_one_sentence_says_what_to_install(file: Path) -> None:
    environment = {"PATH": "/nowhere", "HOME": os.environ.get("HOME", "/")}
    command = [sys.executable, "-m", "snakka", "pipeline", "run", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (ran.returncode, ran.stderr) == (1, f"snakka: {WITHOUT_JAVA}\n")


def test_the_reason_is_found_in_what_spark_has_wrapped() -> None:
    wrapped = "[PYTHON] failed:\nTraceback\n  snakka.pipeline.errors.DataLossError: gone\n\tat java"
    assert one_line(RuntimeError(wrapped)) == "gone"
