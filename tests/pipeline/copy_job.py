"""A Spark job that copies a topic by exactly-once micro-batches, and ends when all is copied.

    python copy_job.py BOOTSTRAP SOURCE SINK CHECKPOINT ROWS_PER_BATCH

Whoever started it is to start it again when it has ended badly. It writes a dot for each
micro-batch that it has finished.
"""

import sys
import time

from snakka.pipeline.session import spark_session

POLL_S = 0.02
# A task whose Python worker is killed is tried again.
MASTER = "local[2,4]"
SETTINGS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}


def main(bootstrap: str, source: str, sink: str, checkpoint: str, rows_per_batch: str) -> None:
    spark = spark_session("copy", MASTER, SETTINGS)
    spark.sparkContext.setLogLevel("ERROR")
    reader = spark.readStream.format("snakka").option("bootstrap.servers", bootstrap)
    reader = reader.option("subscribe", source).option("startingOffsets", "earliest")
    rows = reader.option("maxOffsetsPerTrigger", rows_per_batch).load().select("key", "value")
    writer = rows.writeStream.format("snakka").option("bootstrap.servers", bootstrap)
    writer = writer.option("topic", sink).option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    last = None
    while query.isActive:
        progress = query.lastProgress
        if progress is not None and progress.batchId != last:
            last = progress.batchId
            sys.stdout.write(".")
            sys.stdout.flush()
        time.sleep(POLL_S)
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
