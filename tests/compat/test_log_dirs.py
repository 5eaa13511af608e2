"""Several log directories, as operators and clients have them: Kafka's own tools, librdkafka."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)

from snakka.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from tests.compat.asking import ask
from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram
from tests.compat.java_tools import JavaTools

FIRST, SECOND, THIRD = "first", "second", "third"
SOON = (
    "replica.high.watermark.checkpoint.interval.ms=200",
    "log.retention.check.interval.ms=200",
    "broker.heartbeat.interval.ms=200",
    "log.segment.delete.delay.ms=500",
)


def broker_in(directory: Path, *settings: str) -> BrokerProcess:
    paths = ",".join(str(directory / name) for name in (FIRST, SECOND, THIRD))
    return BrokerProcess(directory, f"log.dirs={paths}", *SOON, *settings)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with broker_in(tmp_path) as process:
        yield process


def eventually(is_so: Callable[[], bool], timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


def create(broker: BrokerProcess, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        future.result(20)
    eventually(lambda: len(list(broker.log.parent.glob(f"*/{topic}-?"))) == partitions)


def produce(broker: BrokerProcess, topic: str, count: int, partition: int = 0) -> list[bytes]:
    """What was acknowledged."""
    acknowledged: list[bytes] = []

    def delivered(error: KafkaError | None, message: Any) -> None:
        assert error is None, error
        acknowledged.append(message.value())

    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 1})
    for n in range(count):
        producer.produce(topic, b"%d" % n, partition=partition, on_delivery=delivered)
    assert producer.flush(30) == 0
    return acknowledged


def consume(broker: BrokerProcess, topic: str, count: int, partition: int = 0) -> list[bytes]:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    values: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(values) < count and time.monotonic() < deadline:
        for message in consumer.consume(1000, timeout=0.5):
            assert message.error() is None, message.error()
            values.append(message.value())
    consumer.close()
    return values


def where_is(tmp_path: Path, name: str) -> list[str]:
    return [each for each in (FIRST, SECOND, THIRD) if (tmp_path / each / name).exists()]


def log_dirs(tools: JavaTools) -> dict[str, Any]:
    """As `kafka-log-dirs.sh --describe` shows them, by the last part of the path."""
    shown = tools.run("LogDirsCommand", "--describe").splitlines()
    (described,) = json.loads(next(line for line in shown if line.startswith("{")))["brokers"]
    return {each["logDir"].rpartition("/")[2]: each for each in described["logDirs"]}


def reassign(tools: JavaTools, tmp_path: Path, topic: str, to: str, option: str) -> str:
    plan = {
        "version": 1,
        "partitions": [
            {
                "topic": topic,
                "partition": 0,
                "replicas": [1],
                "log_dirs": [str(tmp_path / to)],
            }
        ],
    }
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    name = "reassign.ReassignPartitionsCommand"
    return tools.run(name, "--reassignment-json-file", str(file), option)


class SteadyProducer:
    """Keeps producing until it is told to stop; every acknowledgement is noted in order."""

    def __init__(self, broker: BrokerProcess, topic: str) -> None:
        self.acknowledged: list[bytes] = []
        self.errors: list[KafkaError] = []
        self._topic = topic
        self._stop = threading.Event()
        self._producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 1}
        )
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        count = 0
        while not self._stop.is_set():
            for _ in range(50 if len(self._producer) < 1000 else 0):
                value = b"%08d" % count
                self._producer.produce(
                    self._topic, value + b"x" * 500, partition=0, on_delivery=self._delivered
                )
                count += 1
            self._producer.poll(0.005)
        assert self._producer.flush(30) == 0

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.errors.append(error)
        else:
            self.acknowledged.append(message.value()[:8])

    def __enter__(self) -> "SteadyProducer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        del self._producer


def test_kafkas_tools_move_a_partition_that_is_written_to(
    broker: BrokerProcess, tmp_path: Path
) -> None:
    with JavaTools(broker) as tools:
        _move_there_and_on(broker, tools, tmp_path)


def _move_there_and_on(broker: BrokerProcess, tools: JavaTools, tmp_path: Path) -> None:
    create(broker, "moved", 1)
    (home,) = where_is(tmp_path, "moved-0")
    targets = [each for each in (SECOND, THIRD, FIRST) if each != home][:2]
    with SteadyProducer(broker, "moved") as producer:
        eventually(lambda: len(producer.acknowledged) > 2000)
        for target in targets:
            assert "Successfully started moving log directory" in reassign(
                tools, tmp_path, "moved", target, "--execute"
            )
            eventually(lambda: where_is(tmp_path, "moved-0") == [target])  # noqa: B023
            before = len(producer.acknowledged)
            eventually(lambda: len(producer.acknowledged) > before + 1000)  # noqa: B023
    assert producer.errors == []
    expected = [b"%08d" % n for n in range(len(producer.acknowledged))]
    assert producer.acknowledged == expected
    found = [value[:8] for value in consume(broker, "moved", len(expected))]
    assert found == expected
    verified = reassign(tools, tmp_path, "moved", targets[-1], "--verify")
    assert "is on the specified log directory" in verified or "is completed" in verified
    described = log_dirs(tools)
    assert set(described) == {FIRST, SECOND, THIRD}
    assert all(each["error"] is None for each in described.values())
    in_target = {each["partition"]: each for each in described[targets[-1]]["partitions"]}
    assert in_target["moved-0"]["isFuture"] is False
    eventually(lambda: not list(tmp_path.glob("*/moved-0.*")))


def test_a_moved_log_opens_in_kafka(tmp_path: Path) -> None:
    with broker_in(tmp_path) as broker:
        create(broker, "moved", 1)
        produce(broker, "moved", 500)
        (home,) = where_is(tmp_path, "moved-0")
        target = THIRD if home != THIRD else FIRST
        _alter(broker, "moved", tmp_path / target)
        eventually(lambda: where_is(tmp_path, "moved-0") == [target])
        produce(broker, "moved", 500)
    directory = tmp_path / target / "moved-0"
    with JavaProgram(JAVA_SOURCES / "StorageOracle.java") as java:
        described = java.ask(f"open {directory} true 1000")
    assert described.startswith("start=0;end=1000;")
    assert described.count("=") > 1000
    for name in (FIRST, SECOND, THIRD):
        properties = (tmp_path / name / "meta.properties").read_text()
        assert "version=1\n" in properties
        assert "directory.id=" in properties


def test_a_move_goes_on_after_a_kill(tmp_path: Path) -> None:
    with broker_in(tmp_path) as broker:
        _slow_down(broker)
        create(broker, "moved", 1)
        produced = produce(broker, "moved", 60_000)
        (home,) = where_is(tmp_path, "moved-0")
        target = SECOND if home != SECOND else FIRST
        _alter(broker, "moved", tmp_path / target)
        eventually(lambda: any((tmp_path / target).glob("moved-0.*-future/*.log")))
        time.sleep(1)
        broker.kill()
        assert where_is(tmp_path, "moved-0") == [home]
        broker.start()
        eventually(lambda: where_is(tmp_path, "moved-0") == [target])
        assert consume(broker, "moved", 60_000) == produced


def test_another_target_ends_a_move(tmp_path: Path) -> None:
    with broker_in(tmp_path) as broker:
        _slow_down(broker)
        create(broker, "moved", 1)
        produced = produce(broker, "moved", 60_000)
        (home,) = where_is(tmp_path, "moved-0")
        first, second = (each for each in (FIRST, SECOND, THIRD) if each != home)
        for target in (first, second, home):
            _alter(broker, "moved", tmp_path / target)
            futures = sorted(each.parent.name for each in tmp_path.glob("*/moved-0.*-future"))
            assert futures == ([] if target == home else [target])
        assert consume(broker, "moved", 60_000) == produced
        assert where_is(tmp_path, "moved-0") == [home]


def _slow_down(broker: BrokerProcess) -> None:
    """So that a move is caught in the midst of it."""
    entry = ConfigEntry(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "300000",
        incremental_operation=AlterConfigOpType.SET,
    )
    resource = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(20)


def _alter(broker: BrokerProcess, topic: str, path: Path) -> None:
    alter_log_dir(broker.bootstrap, topic, 0, path)


def alter_log_dir(bootstrap: str, topic: str, partition: int, path: Path) -> None:
    """AlterReplicaLogDirs as a client sends it: the client libraries here have no call for it."""
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=str(path),
                topics=[AlterReplicaLogDirTopic(name=topic, partitions=[partition])],
            )
        ]
    )
    answer = ask(bootstrap, request, 2, AlterReplicaLogDirsResponse)
    assert [each.partitions[0].error_code for each in answer.results] == [0]


def _break(path: Path) -> None:
    """As Kafka's own tests have a directory fail: a file takes its place."""
    path.rename(path.with_suffix(".away"))
    path.write_bytes(b"")


def _mend(path: Path) -> None:
    path.unlink()
    path.with_suffix(".away").rename(path)


def test_a_directory_that_fails_takes_nothing_else_along(tmp_path: Path) -> None:
    broker = broker_in(tmp_path).start()
    create(broker, "t", 3)
    lost = next(n for n in range(3) if where_is(tmp_path, f"t-{n}") == [SECOND])
    well = [n for n in range(3) if n != lost]
    for n in range(3):
        produce(broker, "t", 100, n)
    with SteadyProducer(broker, "t"):
        _break(tmp_path / SECOND)
        with JavaTools(broker) as tools:
            eventually(lambda: log_dirs(tools)[SECOND]["error"] is not None)
            assert "KafkaStorageException" in log_dirs(tools)[SECOND]["error"]
    impatient = {"bootstrap.servers": broker.bootstrap, "message.timeout.ms": 2000}
    errors: list[KafkaError] = []
    producer = Producer(impatient)
    producer.produce("t", b"x", partition=lost, on_delivery=lambda error, _: errors.append(error))
    producer.flush(20)
    assert errors[0] is not None
    for n in well:
        assert len(produce(broker, "t", 50, n)) == 50
    metadata = AdminClient(impatient).list_topics("t", 10).topics["t"]
    assert metadata.partitions[lost].leader == -1
    assert {metadata.partitions[n].leader for n in well} == {1}
    broker.stop()

    _mend(tmp_path / SECOND)
    broker.start()
    assert consume(broker, "t", 100, lost)[:100] == [b"%d" % n for n in range(100)]
    broker.stop()


def test_a_start_without_one_directory(tmp_path: Path) -> None:
    with broker_in(tmp_path) as broker:
        create(broker, "t", 3)
        lost = next(n for n in range(3) if where_is(tmp_path, f"t-{n}") == [THIRD])
        for n in range(3):
            produce(broker, "t", 10, n)
    _break(tmp_path / THIRD)
    with broker:
        for n in range(3):
            if n != lost:
                assert len(consume(broker, "t", 10, n)) == 10
        create(broker, "u", 4)
        assert all(where_is(tmp_path, f"u-{n}") in ([FIRST], [SECOND]) for n in range(4))
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g"})
        with pytest.raises(KafkaException):
            consumer.get_watermark_offsets(TopicPartition("t", lost), timeout=2)
        consumer.close()
    _mend(tmp_path / THIRD)
    with broker:
        assert len(consume(broker, "t", 10, lost)) == 10


@pytest.mark.parametrize("failing", [[FIRST], [SECOND, THIRD, FIRST]])
def test_a_node_stops_without_its_metadata_or_any_directory(
    tmp_path: Path, failing: list[str]
) -> None:
    settings = [f"metadata.log.dir={tmp_path / 'metadata'}"] if len(failing) > 1 else []
    broker = broker_in(tmp_path, *settings).start()
    create(broker, "t", 3)
    for name in failing:
        _break(tmp_path / name)
    assert broker.wait() == 1
    assert "failed" in broker.log.read_text()


def test_a_topic_made_anew_keeps_its_records(tmp_path: Path) -> None:
    """A restart follows all of the metadata log, and must not delete what is of the newer one."""
    with broker_in(tmp_path) as broker:
        create(broker, "t", 1)
        produce(broker, "t", 5)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for future in admin.delete_topics(["t"]).values():
            future.result(20)
        create(broker, "t", 1)
        produced = produce(broker, "t", 7)
    with broker:
        assert consume(broker, "t", 7) == produced


def test_many_partitions_made_deleted_and_made_again_keep_what_is_of_the_last(
    tmp_path: Path,
) -> None:
    count = 150
    with broker_in(tmp_path) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for _ in range(3):  # faster than their logs come and go
            admin.create_topics([NewTopic("t", count, 1)])["t"].result(20)
            admin.delete_topics(["t"])["t"].result(20)
        admin.create_topics([NewTopic("t", count, 1)])["t"].result(20)
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for partition in range(count):
            producer.produce("t", f"{partition}", partition=partition)
        assert producer.flush(60) == 0
        logs = [path for path in tmp_path.glob("*/t-*") if not path.name.endswith("-delete")]
        assert len(logs) == count
    with broker:
        for partition in (0, 1, 77, 149):
            assert consume(broker, "t", 1, partition) == [f"{partition}".encode()]
