"""The jobs over a directory that a broker of ours has written, and `snakka logs`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from snakka.cli.main import main
from snakka.pipeline.segments import jobs
from snakka.pipeline.segments.listing import find_segments
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import Row, make_topic, produce

KEYS = 10


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two topics: one keyed, in segments and codecs of its own, and one without keys."""
    root = tmp_path_factory.mktemp("segments")
    with BrokerProcess(root) as broker:
        make_topic(broker.bootstrap, 2, "keyed", segment_bytes=str(1 << 20))
        make_topic(broker.bootstrap, 1, "keyless")
        for codec in ("none", "zstd"):
            rows = [Row(b"k%d" % (i % KEYS), bytes(1000), int(i % KEYS > 6)) for i in range(2000)]
            settings = {"compression.type": codec}
            produce(broker.bootstrap, "keyed", rows, **settings)
        produce(broker.bootstrap, "keyed", [Row(b"k0", None, 0)])
        produce(broker.bootstrap, "keyless", [Row(None, b"12345", 0)] * 7)
    return root / "data"


def test_usage(spark: SparkSession, directory: Path) -> None:
    rows = jobs.usage(spark, find_segments([str(directory)])).collect()
    keyed, keyless = rows
    on_disk = sum(path.stat().st_size for path in directory.glob("keyed-*/*.log"))
    assert keyed.size_bytes == on_disk
    assert keyed.segment_count == len(list(directory.glob("keyed-*/*.log"))) > 2
    assert (keyed.topic, keyed.partition_count, keyed.record_count) == ("keyed", 2, 4001)
    assert keyed.codecs == ["none", "zstd"]
    assert 1 < keyed.skew <= 2
    assert (keyless.topic, keyless.record_count, keyless.skew) == ("keyless", 7, 1.0)
    assert keyed.damaged_segment_count == 0


def test_key_skew(spark: SparkSession, directory: Path) -> None:
    first, second = jobs.key_skew(spark, find_segments([str(directory)]), top=2).collect()
    assert (first.key, first.record_count, first.key_count) == (b"k0", 401, KEYS)
    assert first.share == pytest.approx(401 / 4001)
    assert (second.rank, second.record_count, second.size_bytes) == (2, 400, 400 * 1002)


def test_compaction_gain(spark: SparkSession, directory: Path) -> None:
    found = jobs.compaction_gain(spark, find_segments([str(directory)])).collect()
    keyed, keyless = found
    assert (keyed.record_count, keyed.key_count, keyed.kept_count) == (4001, KEYS, KEYS - 1)
    assert keyed.kept_bytes == (KEYS - 1) * 1002
    assert keyed.gain == pytest.approx(1 - keyed.kept_bytes / keyed.size_bytes)
    assert (keyless.keyless_count, keyless.kept_bytes, keyless.gain) == (7, 35, 0)


def test_check_and_damage(spark: SparkSession, directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "data"
    for path in directory.glob("keyed-0/*"):
        target = copy / path.relative_to(directory)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    sound = jobs.check(spark, find_segments([str(copy)])).collect()
    assert [each.problems for each in sound] == [[]] * len(sound)
    assert sum(each.record_count for each in sound) == 2801

    first, second, *_ = sorted(copy.glob("keyed-0/*.log"))
    data = bytearray(first.read_bytes())
    data[1000] ^= 1
    first.write_bytes(data)
    overlapping = second.with_name(f"{int(second.stem) - 1:020d}.log")
    for suffix in (".log", ".index", ".timeindex"):
        second.with_suffix(suffix).rename(overlapping.with_suffix(suffix))
    damaged = invoke("check", str(copy), "--json")
    assert damaged.exit_code == 1
    rows = json.loads(damaged.stdout)
    problems = [each for row in rows for each in row["problems"]]
    assert [each["path"] for each in problems if "CRC32C" in each["reason"]] == [str(first)]
    used = jobs.usage(spark, find_segments([str(copy)])).collect()
    assert used[0].damaged_segment_count == 0, "headers are whole"
    gain = jobs.compaction_gain(spark, find_segments([str(copy)])).collect()
    assert gain[0].damaged_segment_count == 1
    shown = invoke("compaction", str(copy))
    assert "1 segment could not be read to the end" in shown.stderr


def test_the_commands(spark: SparkSession, directory: Path) -> None:
    usage = json.loads(invoke("usage", str(directory), "--topics", "keyless", "--json").stdout)
    assert [each["topic"] for each in usage] == ["keyless"]
    assert "all sound" in invoke("check", str(directory)).stdout
    (keys,) = json.loads(invoke("keys", str(directory), "--top", "1", "--json").stdout)
    assert keys["key"] == "k0"
    assert "100.0%" not in invoke("compaction", str(directory), "--topics", "keyless").stdout


def test_what_is_refused(tmp_path: Path) -> None:
    assert invoke("usage", str(tmp_path)).stderr == f"snakka: no segments in {tmp_path}\n"
    wrong = invoke("usage", str(tmp_path), "--topics", "(")
    assert (wrong.exit_code, "'(' is no regular expression" in wrong.stderr) == (2, True)
    assert invoke("usage", str(tmp_path / "gone")).exit_code == 2


def invoke(*words: str) -> Result:
    return CliRunner().invoke(main, ["logs", *words])
