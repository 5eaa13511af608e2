"""A broker that is away for a while stops neither the reader nor the writer."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snakka.client.settings import DEFAULT_SETTINGS
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread
from snakka.pipeline.committing import Committer
from snakka.pipeline.options import read_source_options
from snakka.pipeline.source import StreamReader
from snakka.pipeline.spark_streaming import ReadAllAvailable
from snakka.pipeline.staging import ensure_topic
from snakka.pipeline.versions import Numbered
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import make_topic, numbered, produce

AWAY_S = 1.5


@contextmanager
def away(broker: BrokerProcess) -> Iterator[None]:
    """The broker is killed, and comes back while the block is under way."""
    broker.kill()

    def come_back() -> None:
        time.sleep(AWAY_S)
        broker.start()

    returning = threading.Thread(target=come_back)
    returning.start()
    yield
    returning.join()


def test_planning_reading_and_committing_wait_for_it(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker") as broker:
        topic = make_topic(broker.bootstrap)
        produce(broker.bootstrap, topic, numbered(10))
        given = {"bootstrap.servers": broker.bootstrap, "subscribe": topic}
        reader = StreamReader(read_source_options({**given, "startingOffsets": "earliest"}))
        start = reader.initialOffset()
        with away(broker):
            end = reader.latestOffset(start, ReadAllAvailable())
        assert end == {topic: {"0": 10}}
        (planned,) = reader.partitions(start, end)
        with away(broker):
            assert sum(each.num_rows for each in reader.read(planned)) == 10

        thread = ClusterThread(ClusterAddress(broker.bootstrap, DEFAULT_SETTINGS))
        with away(broker):
            thread.run(ensure_topic(thread.cluster, "staging"))
        with away(broker):
            assert Committer(thread, "app", "staging", 30_000).commit([], Numbered(0)) == {}
        thread.close()
