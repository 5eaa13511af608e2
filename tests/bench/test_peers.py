"""The benchmark of peers still runs: a few of its rows, short, on Snakka and on Apache Kafka."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.peers.figures import Figure
from bench.peers.report import section
from bench.peers.results import Results, ratio, table
from bench.peers.rounds import Measured
from bench.peers.rows import ROWS, matching
from tests.compat.java_oracle import require

TIMEOUT_S = 300  # a minute on a machine of its own
TITLES = [
    "produce, Java: 1 KiB, acks=all",
    "consume: librdkafka, 1 KiB, hot",
    "latency: end to end, 1,000 records/s",
    "physical limit: consume, 1 MiB answers",
    "broker: start to the first record acknowledged",
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    require("java", "mvn", "cc")
    directory = tmp_path_factory.mktemp("bench")
    file = directory / "results.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "bench.peers", "--rows", *TITLES, "--peers", "kafka", "raw"),
            *("--rounds", "1", "--scale", "0.02", "--json", str(file), "--data", str(directory)),
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert [each.name for each in directory.iterdir()] == ["results.json"]
    results: dict[str, Any] = json.loads(file.read_text())
    return results


def test_every_row_is_measured_on_every_broker(found: dict[str, Any]) -> None:
    assert found["missing"] == {}
    assert list(found["taking_part"]) == ["snakka", "kafka", "raw"]
    assert len(found["rows"]) == len(TITLES)
    for row, told in zip(matching(TITLES), found["rows"], strict=True):
        assert told["failures"] == {}, row.title
        assert {"snakka", "kafka"} <= told["rounds"].keys(), row.title
        for rounds in told["rounds"].values():
            for figure in row.figures:
                assert rounds[0][figure.key] >= 0, (row.title, figure.key)


def test_ratios_are_of_the_same_round() -> None:
    measured = Measured("x")
    measured.rounds = {
        "snakka": [{"mb_per_s": 10.0}, {"mb_per_s": 40.0}, {"mb_per_s": 90.0}],
        "kafka": [{"mb_per_s": 10.0}, {"mb_per_s": 20.0}, {"mb_per_s": 30.0}],
    }
    found = ratio(measured, Figure("mb_per_s", "MB/s", True, {"kafka": 2.5}), "kafka")
    assert found is not None
    assert (found.median, found.least, found.most) == (2.0, 1.0, 3.0)
    assert not found.meets_goal
    assert not found.always_misses


def test_less_of_what_costs_meets_its_goal() -> None:
    memory = Figure("mib", "MiB", goals={"kafka": 0.1})
    assert memory.meets("kafka", 0.09)
    assert not memory.meets("kafka", 0.11)
    assert memory.meets("another", 5.0)


def test_a_peer_that_fails_is_told_of_and_the_others_are_compared() -> None:
    (row,) = matching(["restart on 3 GB"])
    measured = Measured(row.title)
    measured.rounds = {"snakka": [{"seconds": 1.0}], "kafka": [{"seconds": 4.0}]}
    measured.failures = {"tansu": "BrokerDiedError: tansu ended"}
    peers = {each: {"version": "1", "settings": ""} for each in ("snakka", "kafka", "tansu")}
    results = Results({}, peers, {}, 1, 1.0, [measured])
    last = list(table(results, list(results.measured())))[-1]
    assert last == f"| {row.title} | s - | 1.00 | 0.25 (0.25-0.25) | fails |"


def test_no_two_rows_have_one_title() -> None:
    titles = [each.title for each in ROWS]
    assert len(titles) == len(set(titles))


def test_the_page_begins_with_what_falls_short(tmp_path: Path) -> None:
    (row,) = matching(["consume: Java"])
    measured = Measured(row.title)
    measured.rounds = {
        "snakka": [{"mb_per_s": 90.0, "cpu_s_per_million": 1.0}],
        "kafka": [{"mb_per_s": 100.0, "cpu_s_per_million": 4.0}],
    }
    peers = {each: {"version": "1", "settings": "own"} for each in ("snakka", "kafka")}
    results = Results({"memory": "1 GiB"}, peers, {"tansu": "no cargo"}, 1, 1.0, [measured])
    page = "\n".join(section(results, tmp_path))
    assert "| tansu | none | could not be had: no cargo |" in page
    assert f"- {row.title}, MB/s: **0.9 (0.9-0.9)** of kafka's" in page
    assert "| 0.25 (0.25-0.25) |" in page
    assert page.index("falls short") < page.index("### Consume")
    (picture,) = tmp_path.iterdir()
    assert "<svg" in picture.read_text()
