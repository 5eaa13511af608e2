"""A mirror: topics of another cluster, partition by partition, and the groups that read them.

A copy has the key, value, headers and timestamp of its record, in a topic and partition of the same
name and number, and headers that say where it was. Topics are made, and grow, as those of the
source. Offsets differ, where the source has markers or was compacted, so a group's offsets are
translated (translation.py).

Not here: settings of topics and access rights, which are not mirrored.
"""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from snakka.client.admin.topics import NewTopic, create_topics, set_partition_count
from snakka.client.cluster import Cluster
from snakka.client.errors import KafkaError
from snakka.client.records import TopicPartition
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread, connect
from snakka.pipeline.declared.applications import APPLICATION_PREFIX, Application
from snakka.pipeline.declared.declaration import MirrorOptions, Pipeline
from snakka.pipeline.declared.decoding import OFFSET, PARTITION, RECORD, TIMESTAMP, TOPIC
from snakka.pipeline.declared.headers import with_headers
from snakka.pipeline.declared.places import places_of
from snakka.pipeline.declared.target import Written
from snakka.pipeline.declared.topic_target import in_order
from snakka.pipeline.declared.translation import GroupTranslator
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.option_values import client_options
from snakka.pipeline.options import read_source_options
from snakka.pipeline.sink_options import read_sink_options
from snakka.pipeline.tables.table import Step


class MirrorTarget:
    """The topics of a pipeline's sources on another cluster."""

    def __init__(self, pipeline: Pipeline, options: MirrorOptions) -> None:
        self._topics = pipeline.topics
        self._options = {**options.options, "includeTimestamps": "true"}
        checked = read_sink_options(self._options)
        self._address = ClusterAddress(checked.bootstrap_servers, checked.client_settings)
        self._application = Application(APPLICATION_PREFIX + pipeline.name, self._options)
        source = read_source_options({**pipeline.options, "subscribe": ",".join(self._topics)})
        self._groups = GroupTranslator(
            ClusterAddress(source.bootstrap_servers, source.client_settings),
            self._address,
            options.groups,
        )

    def find_offsets(self) -> Offsets | None:
        return self._application.find_offsets()

    def take_over(self) -> Offsets | None:
        return self._application.take_over()

    def append(self, rows: DataFrame, step: Step) -> Written:
        """Copies the records, and lets the groups follow."""
        thread = self._thread()
        thread.run(ensure_topics(thread.cluster, step.end))
        count = self._application.append(copies_of(rows), None, step)
        self._groups.follow(step.end)
        return Written(count)

    def rows(self, spark: SparkSession) -> DataFrame:
        reader = spark.read.format("snakka").options(**client_options(self._options))
        return reader.option("subscribe", ",".join(self._topics)).load().transform(places_of)

    def _thread(self) -> ClusterThread:
        return connect(self._address)


def copies_of(rows: DataFrame) -> DataFrame:
    """Records for the target."""
    record = sf.col(RECORD)
    told = {"topic": sf.col(TOPIC), "partition": sf.col(PARTITION), "offset": sf.col(OFFSET)}
    return in_order(rows).select(
        record["key"].alias("key"),
        record["value"].alias("value"),
        with_headers(record["headers"], told).alias("headers"),
        sf.col(TOPIC).alias("topic"),
        sf.col(PARTITION).alias("partition"),
        sf.col(TIMESTAMP).alias("timestamp"),
    )


async def ensure_topics(cluster: Cluster, partitions: Iterable[TopicPartition]) -> None:
    """Topics with at least these partitions."""
    counts: dict[str, int] = {}
    for topic, partition in partitions:
        counts[topic] = max(counts.get(topic, 0), partition + 1)
    await cluster.refresh(list(counts))
    there = cluster.metadata.topics
    missing = [NewTopic(topic, count) for topic, count in counts.items() if topic not in there]
    if missing:
        for outcome in (await create_topics(cluster, missing)).values():
            if isinstance(outcome, KafkaError):
                raise outcome
    for topic, count in counts.items():
        if topic in there and len(there[topic].partitions) < count:
            await set_partition_count(cluster, topic, count)
            cluster.mark_stale(topic)
