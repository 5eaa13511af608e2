"""The data source `snakka`: what Spark finds under that name.

Not here: reading (source.py), writing (sink.py).
"""

from collections.abc import MutableMapping

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from snakka.pipeline.columns import ddl
from snakka.pipeline.options import read_source_options
from snakka.pipeline.sink import BatchWriter, StreamWriter
from snakka.pipeline.sink_options import read_sink_options
from snakka.pipeline.source import BatchReader, FilteringBatchReader, StreamReader


class SnakkaDataSource(DataSource):
    """Topics of Snakka, or of any broker that speaks Kafka's protocol."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @classmethod
    def name(cls) -> str:
        return "snakka"

    def schema(self) -> str:
        # Asked for by `load()`: a wrong option is told there, not when the query runs.
        return ddl(include_headers=read_source_options(self.options).include_headers)

    def reader(self, schema: StructType) -> BatchReader:
        options = read_source_options(self.options)
        return FilteringBatchReader(options) if options.push_filters else BatchReader(options)

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        return StreamReader(read_source_options(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        return BatchWriter(read_sink_options(self.options), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:  # noqa: N802
        return StreamWriter(read_sink_options(self.options), schema, overwrite=overwrite)
