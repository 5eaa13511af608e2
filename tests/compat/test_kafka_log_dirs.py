"""Several log directories of one node, whose broker is Apache Kafka's and ours in turn."""

import time
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.java_oracle import JavaProgram
from tests.compat.test_kafka_directories import CLUSTER, PROGRAM, Node
from tests.compat.test_log_dirs import alter_log_dir, eventually

PARTITIONS = 4


def test_kafka_and_snakka_share_log_directories(tmp_path: Path) -> None:
    with JavaProgram(PROGRAM) as java:
        node = Node(tmp_path, java)
        paths = [tmp_path / name for name in ("one", "two", "three")]
        settings = node.config.read_text().replace(
            f"log.dirs={node.data}", f"log.dirs={','.join(map(str, paths))}"
        )
        node.config.write_text(settings + f"metadata.log.dir={tmp_path / 'metadata'}\n")
        there_and_back(node, paths)


def there_and_back(node: Node, paths: list[Path]) -> None:
    node.ask("format", str(node.config), CLUSTER)
    node.ask("start", str(node.config))
    admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
    for future in admin.create_topics([NewTopic("t", PARTITIONS, 1)]).values():
        future.result(30)
    produced = produce(node, "kafka")
    node.ask("stop")
    ids = directory_ids(paths)
    assert len(set(ids)) == len(paths)

    homes = [home(paths, n) for n in range(PARTITIONS)]
    targets = [path for each in homes for path in paths if each not in (None, path)][::2]
    with node.snakka:
        assert consume(node, len(produced)) == sorted(produced)
        for n, target in enumerate(targets):
            alter_log_dir(node.bootstrap, "t", n, target)
            eventually(lambda: home(paths, n) == target)  # noqa: B023
        produced += produce(node, "snakka")
    assert directory_ids(paths) == ids

    node.ask("start", str(node.config))
    assert consume(node, len(produced)) == sorted(produced)
    produced += produce(node, "kafka again")
    assert consume(node, len(produced)) == sorted(produced)
    node.ask("stop")
    assert [home(paths, n) for n in range(PARTITIONS)] == targets


def home(paths: list[Path], partition: int) -> Path | None:
    found = [path for path in paths if (path / f"t-{partition}").exists()]
    return found[0] if len(found) == 1 else None


def directory_ids(paths: list[Path]) -> list[str]:
    lines = [(path / "meta.properties").read_text().splitlines() for path in paths]
    return [next(each for each in found if each.startswith("directory.id=")) for found in lines]


def produce(node: Node, who: str) -> list[bytes]:
    producer = Producer({"bootstrap.servers": node.bootstrap, "log_level": 0})
    values = [f"{who} {n}".encode() for n in range(400)]
    for n, value in enumerate(values):
        producer.produce("t", value, partition=n % PARTITIONS)
    assert producer.flush(30) == 0
    return values


def consume(node: Node, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": node.bootstrap, "group.id": "g", "log_level": 0})
    consumer.assign([TopicPartition("t", n, 0) for n in range(PARTITIONS)])
    values: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(values) < count and time.monotonic() < deadline:
        for message in consumer.consume(count - len(values), timeout=1):
            assert message.error() is None, message.error()
            values.append(message.value() or b"")
    consumer.close()
    return sorted(values)
