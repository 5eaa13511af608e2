"""A declaration with its schemas, functions and SQL read and tried: what a run and an audit share.

Everything that is wrong with them is found before a record is read, on rows that there are none of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from snakka.config.problems import ConfigurationError
from snakka.pipeline.columns import ddl
from snakka.pipeline.declared.declaration import MirrorOptions, Pipeline, Transform
from snakka.pipeline.declared.decoding import (
    COORDINATES,
    PLACE,
    REASON,
    RECORD,
    SourceDecoder,
    decode,
    make_decoder,
)
from snakka.pipeline.declared.json_values import infer_json_schema
from snakka.pipeline.declared.problems import find_problems
from snakka.pipeline.declared.shaping import check_coordinates, make_transformation, with_reason
from snakka.pipeline.errors import OptionError, SchemaError
from snakka.pipeline.tables.table import TableOptions

_REJECTED: Final = (*COORDINATES, RECORD, REASON)


class Shaped(NamedTuple):
    """What becomes of some records: rows to keep, and records to reject with the reason."""

    kept: DataFrame
    rejected: DataFrame | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a pipeline does with records of its sources."""

    pipeline: Pipeline
    decoders: Sequence[SourceDecoder]
    transformation: Transform

    @property
    def may_reject(self) -> bool:
        return bool(self.pipeline.checks) or any(each.may_reject for each in self.decoders)

    def decode(self, records: DataFrame) -> DataFrame:
        """Records as rows with the reasons of those that cannot be decoded."""
        return decode(records, self.decoders)

    def shape(self, decoded: DataFrame) -> Shaped:
        """Transforms and checks what was decoded."""
        rows = decoded.where(f"{REASON} IS NULL").drop(REASON)
        if isinstance(self.pipeline.target, MirrorOptions):
            return Shaped(rows, None)  # records as they are
        rows = rows.drop(RECORD).transform(self.transformation)
        if not self.may_reject:
            return Shaped(rows, None)
        rejected = decoded.where(f"{REASON} IS NOT NULL").select(*_REJECTED)
        if self.pipeline.checks:
            checked = with_reason(rows, self.pipeline.checks)
            failed = checked.where(f"{REASON} IS NOT NULL").select(*PLACE, REASON)
            failed = failed.dropDuplicates(list(PLACE))
            traced = decoded.drop(REASON).join(failed, list(PLACE)).select(*_REJECTED)
            rejected = rejected.unionByName(traced)
            rows = checked.where(f"{REASON} IS NULL").drop(REASON)
        return Shaped(rows, rejected)


def plan(spark: SparkSession, pipeline: Pipeline) -> Plan:
    """Raises ConfigurationError, OptionError or SchemaError, which say what is wrong."""
    problems = find_problems(pipeline)
    if problems:
        raise ConfigurationError(problems)
    _infer_schemas(spark, pipeline)
    decoders = [make_decoder(each, spark) for each in pipeline.sources]
    made = Plan(pipeline, decoders, make_transformation(pipeline, spark))
    _try_out(spark, made)
    return made


def _try_out(spark: SparkSession, made: Plan) -> None:
    """Lets Spark look at everything."""
    nothing = spark.createDataFrame([], ddl(include_headers=True))
    try:
        decoded = made.decode(nothing)
        rows = decoded.drop(REASON, RECORD).transform(made.transformation)
        columns = rows.columns
        if made.pipeline.checks:
            with_reason(rows, made.pipeline.checks)
    except PySparkException as error:
        raise OptionError(_first_line(error)) from None
    if made.pipeline.has_coordinates:
        check_coordinates(rows)
    if isinstance(made.pipeline.target, TableOptions):
        for each in made.pipeline.target.partition_by:
            if each not in columns:
                raise SchemaError(f"table.partition_by={each}: rows have no such column")


def _first_line(error: Exception) -> str:
    lines = [each for each in str(error).splitlines() if each.strip()]
    return lines[0] if lines else type(error).__name__


def _infer_schemas(spark: SparkSession, pipeline: Pipeline) -> None:
    for source in pipeline.sources:
        for column, decoding in (("value", source.value), ("key", source.key)):
            if decoding is None or not decoding.infer_sample or decoding.schema_file is None:
                continue
            if decoding.schema_file.exists():
                continue
            records = read_topics(spark, pipeline, subscribe=",".join(source.topics))
            sample = records.limit(decoding.infer_sample)
            infer_json_schema(sample, column, decoding.schema_file)


def read_topics(spark: SparkSession, pipeline: Pipeline, **what: str) -> DataFrame:
    """Records of topics as a batch."""
    return spark.read.format("snakka").options(**{**pipeline.options, **what}).load()
