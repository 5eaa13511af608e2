"""What rates.py times, in the Python of the Spark that the connector is built for."""

import json
import sys
import tempfile
import time

from pyspark.sql import DataFrame, SparkSession

from snakka.pipeline.session import spark_session

FORMATS = ("kafka", "snakka")
SETTINGS = {"spark.ui.enabled": "false", "spark.driver.memory": "4g"}


def load(spark: SparkSession, name: str, bootstrap: str, topic: str) -> DataFrame:
    reader = spark.read.format(name).option("kafka.bootstrap.servers", bootstrap)
    return reader.option("subscribe", topic).option("includeHeaders", "true").load()


def run(query: str, frame: DataFrame, expected: int) -> None:
    if query == "count":
        # Not count(): for that Spark asks its own connector for no record at all.
        found = frame.selectExpr("count(offset) AS n", "sum(length(value)) AS bytes").collect()[0].n
        assert found == expected, f"{found} rows, not {expected}"
        return
    with tempfile.TemporaryDirectory() as directory:
        frame.select("key", "value", "offset").write.mode("overwrite").parquet(directory)


def main(bootstrap: str, jars: str, rounds: str) -> None:
    topics: dict[str, int] = json.loads(sys.stdin.readline())
    spark = spark_session("bench", "local[2]", {**SETTINGS, "spark.jars": jars})
    results: list[list[object]] = []
    for topic, expected in topics.items():
        for query in ("count", "parquet"):
            fastest = dict.fromkeys(FORMATS, 0.0)
            for _ in range(int(rounds) + 1):  # the first one warms up
                for name in FORMATS:
                    frame = load(spark, name, bootstrap, topic)
                    started_s = time.perf_counter()
                    run(query, frame, expected)
                    rate = expected / (time.perf_counter() - started_s)
                    fastest[name] = max(fastest[name], rate)
            results.append([topic, query, *(fastest[name] for name in FORMATS)])
    spark.stop()
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
