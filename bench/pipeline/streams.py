"""Streaming queries that bench/pipeline/latency.py feeds: each from a topic to Parquet files.

    python streams.py BOOTSTRAP JARS

Reads a query as JSON from each line of its input, and answers with the milliseconds that each of
its micro-batches took.
"""

import json
import sys
import time
from typing import Any

from pyspark.sql import SparkSession

from snakka.pipeline.session import spark_session

SETTINGS = {"spark.ui.enabled": "false", "spark.sql.streaming.numRecentProgressUpdates": "10000"}


def run(spark: SparkSession, bootstrap: str, told: dict[str, Any]) -> list[int]:
    reader = spark.readStream.format(told["format"]).option("kafka.bootstrap.servers", bootstrap)
    frame = reader.option("subscribe", told["topic"]).option("startingOffsets", "earliest").load()
    writer = frame.select("key", "value", "offset", "timestamp").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", told["directory"] + ".checkpoint")
    query = writer.option("path", told["directory"]).start()
    time.sleep(told["seconds"])
    query.stop()
    return [each["durationMs"]["triggerExecution"] for each in query.recentProgress]


def main(bootstrap: str, jars: str) -> None:
    spark = spark_session("bench", "local[2]", {**SETTINGS, "spark.jars": jars})
    for line in sys.stdin:
        print(json.dumps(run(spark, bootstrap, json.loads(line))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
