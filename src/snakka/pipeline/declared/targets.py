"""The target that a pipeline declares: a table (tables/), a topic, or topics of another cluster."""

from pyspark.sql import DataFrame, SparkSession

from snakka.pipeline.declared.declaration import MirrorOptions, Pipeline, TopicOptions
from snakka.pipeline.declared.mirror import MirrorTarget
from snakka.pipeline.declared.target import Target, Written
from snakka.pipeline.declared.topic_target import TopicTarget
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.table import Step, Table, TableOptions


class TableTarget:
    def __init__(self, table: Table, pipeline: str) -> None:
        self.table = table
        self._pipeline = pipeline

    def find_offsets(self) -> Offsets | None:
        return self.table.find_offsets(self._pipeline)

    def take_over(self) -> Offsets | None:
        return self.find_offsets()

    def append(self, rows: DataFrame, step: Step) -> Written:
        added = self.table.append(rows, step)
        return Written(added.row_count, added.version, added.file_count)

    def rows(self, spark: SparkSession) -> DataFrame:
        return self.table.read(spark)


def target_of(pipeline: Pipeline) -> Target:
    match pipeline.target:
        case TopicOptions():
            return TopicTarget(pipeline, pipeline.target)
        case MirrorOptions():
            return MirrorTarget(pipeline, pipeline.target)
        case TableOptions():
            return TableTarget(table_for(pipeline.target), pipeline.name)
