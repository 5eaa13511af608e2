"""The same queries through Spark's own connector and through ours; run by the Spark that is tested.

    python spark_queries.py BOOTSTRAP JARS FORMAT...

Reads the names of topics and a point in time as JSON from its input, and prints what each query
found by each format as JSON.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from snakka.pipeline.session import spark_session

FORMATS = ("kafka", "snakka")
COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"]
# Options that both have in common mean the same; these are where the defaults differ.
OURS = {
    "kafka": {"includeHeaders": "true", "kafka.isolation.level": "read_committed"},
    "snakka": {},
}
WAIT_S = 120


class Queries:
    def __init__(self, spark: SparkSession, bootstrap: str) -> None:
        self._spark = spark
        self._bootstrap = bootstrap

    def read(self, name: str, **options: str) -> DataFrame:
        reader = self._spark.read.format(name).option("kafka.bootstrap.servers", self._bootstrap)
        return reader.options(**{**OURS[name], **options}).load()

    def batch(self, name: str, **options: str) -> list[Any]:
        return rows(self.read(name, **options))

    def write(self, name: str, topic: str, **options: str) -> list[Any]:
        """Rows that say all there is to say, with the topic as an option or as a column."""
        frame = self._spark.range(40).selectExpr(
            "IF(id % 4 = 0, NULL, CAST(id AS STRING)) AS key",
            "IF(id % 5 = 0, NULL, CAST(CAST(id * id AS STRING) AS BINARY)) AS value",
            f"'{topic}' AS topic",
            "IF(id % 4 = 0, CAST(id % 3 AS INT), NULL) AS partition",
            "IF(id % 2 = 0, array(named_struct('key', 'h', 'value', X'0102')), NULL) AS headers",
        )
        writer = frame.write.format(name).mode("append").options(**options)
        writer.option("kafka.bootstrap.servers", self._bootstrap).save()
        found = self.read("kafka", subscribe=topic)
        return rows(found.withColumn("topic", sf.lit("")).drop("offset", "timestamp"))

    def stream(self, source: str, sink: str, topics: tuple[str, str], **options: str) -> list[Any]:
        """All of one topic to another, in micro-batches."""
        directory = tempfile.mkdtemp()
        reader = self._spark.readStream.format(source)
        reader = reader.option("kafka.bootstrap.servers", self._bootstrap)
        frame = reader.options(**OURS[source], subscribe=topics[0], **options).load()
        writer = frame.select("key", "value", "headers").writeStream.format(sink)
        writer = writer.option("kafka.bootstrap.servers", self._bootstrap)
        writer = writer.option("topic", topics[1]).option("checkpointLocation", directory)
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(WAIT_S)
        found = self.read("kafka", subscribe=topics[1])
        return rows(found.select("key", "value", "headers"))


def rows(frame: DataFrame) -> list[Any]:
    """Rows as JSON can hold them, in an order of their own."""
    shown = [
        sf.hex(each).alias(each)
        if each in ("key", "value")
        else sf.unix_micros(each).alias(each)
        if each == "timestamp"
        else sf.expr(
            "transform(coalesce(headers, array()), h -> struct(h.key, hex(h.value) AS value))"
        ).alias(each)
        if each == "headers"
        else sf.col(each)
        for each in COLUMNS
        if each in frame.columns
    ]
    return sorted(row for row in frame.select(*shown).toJSON().collect())


def options_of(topics: dict[str, str], middle_ms: int) -> dict[str, dict[str, str]]:
    """Options that both know, by the name of the query."""
    plain, committed = topics["plain"], topics["committed"]

    def at(*values: int) -> str:
        return json.dumps({plain: {str(i): value for i, value in enumerate(values)}})

    return {
        "all": {"subscribe": plain},
        "without headers": {"subscribe": plain, "includeHeaders": "false"},
        "several topics": {"subscribe": f"{plain},{committed}"},
        "pattern": {"subscribePattern": f"{plain[:-1]}."},
        "assigned": {"assign": json.dumps({plain: [1, 2]})},
        "offsets": {
            "subscribe": plain,
            "startingOffsets": at(3, -2, 7),
            "endingOffsets": at(9, -1, 8),
        },
        "from a time on": {"subscribe": plain, "startingTimestamp": str(middle_ms)},
        "up to a time": {"subscribe": plain, "endingTimestamp": str(middle_ms)},
        "times by partition": {
            "subscribe": plain,
            "startingOffsetsByTimestamp": at(middle_ms, 0, middle_ms),
            "endingOffsetsByTimestamp": at(middle_ms + 5, middle_ms, middle_ms + 9),
        },
        "later than any": {
            "subscribe": plain,
            "startingTimestamp": str(middle_ms + 1_000_000),
            "startingOffsetsByTimestampStrategy": "latest",
        },
        "committed": {"subscribe": committed},
        "uncommitted": {"subscribe": committed, "kafka.isolation.level": "read_uncommitted"},
        "many tasks": {"subscribe": plain, "minPartitions": "9"},
        "small tasks": {"subscribe": plain, "maxRecordsPerPartition": "4"},
        "loss accepted": {
            "subscribe": topics["cut"],
            "startingOffsets": json.dumps({topics["cut"]: {"0": 0}}),
            "failOnDataLoss": "false",
        },
    }


def main(bootstrap: str, jars: str, *formats: str) -> None:
    told = json.loads(sys.stdin.readline())
    spark = spark_session("queries", "local[2]", {"spark.jars": jars, "spark.ui.enabled": "false"})
    spark.sparkContext.setLogLevel("OFF")
    queries = Queries(spark, bootstrap)
    found: dict[str, dict[str, Any]] = {}

    def ask_each(name: str, ask: Callable[[str], list[Any]]) -> None:
        found[name] = {each: ask(each) for each in formats}
        print(name, file=sys.stderr)

    for name, options in options_of(told["topics"], told["middle_ms"]).items():
        ask_each(name, lambda each, options=options: queries.batch(each, **options))  # type: ignore[misc]
    ask_each("written", lambda each: queries.write(each, told["written"][each]))
    plain = told["topics"]["plain"]
    limit = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "25"}
    ask_each(
        "streamed",
        lambda each: queries.stream(each, each, (plain, told["streamed"][each]), **limit),
    )
    if len(formats) > 1:
        ask_each(
            "crossed",
            lambda each: queries.stream(
                each, FORMATS[1 - FORMATS.index(each)], (plain, told["crossed"][each]), **limit
            ),
        )
    json.dump({"version": spark.version, "found": found}, sys.stdout)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
