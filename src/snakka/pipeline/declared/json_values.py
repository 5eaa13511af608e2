"""JSON, decoded by Spark: a schema as DDL, given or inferred once and kept in a file.

A value is rejected that is no JSON object, has a field that does not fit its type, or lacks one
that is NOT NULL; the reason names the fields. Fields that the schema does not have are passed over.
"""

from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StringType, StructField, StructType

from snakka.pipeline.errors import SchemaError

_CORRUPT: Final = "_corrupt_record"
_OPTIONS: Final = {"columnNameOfCorruptRecord": _CORRUPT}


def decode_json(rows: DataFrame, column: str, into: str, schema: StructType) -> DataFrame:
    """The rows with one more column."""
    text = sf.col(column).cast("string")
    parsed = sf.col(into)
    value = sf.struct(*(parsed[each.name].alias(each.name) for each in schema.fields))
    reason = _reason(sf.col(column), text, parsed, schema)
    return rows.withColumn(into, _parsed(text, schema.fields)).withColumn(
        into,
        sf.struct(
            sf.when(reason.isNull(), value).alias("value"),
            reason.alias("reason"),
        ),
    )


def _parsed(text: Column, fields: list[StructField]) -> Column:
    nullable = [StructField(each.name, each.dataType) for each in fields]
    schema = StructType([*nullable, StructField(_CORRUPT, StringType())])
    return sf.from_json(text, schema, _OPTIONS)


def _reason(data: Column, text: Column, parsed: Column, schema: StructType) -> Column:
    """Why a value is rejected, or null; only for those that are is looked for the field."""
    wrong = [
        sf.when(_parsed(text, [each])[_CORRUPT].isNotNull(), sf.lit(_told(each)))
        for each in schema.fields
    ]
    missing = [
        sf.when(parsed[each.name].isNull(), sf.lit(each.name))
        for each in schema.fields
        if not each.nullable
    ]
    is_missing = sf.lit(False)
    for each in missing:
        is_missing = is_missing | each.isNotNull()
    is_object = sf.try_parse_json(text).isNotNull() & sf.ltrim(text).startswith("{")
    return (
        sf.when(data.isNull(), sf.lit("there is no value"))
        .when(~sf.is_valid_utf8(data.cast("string")), sf.lit("it is not UTF-8"))
        .when(parsed.isNull(), sf.lit("it is not a JSON object"))
        .when(
            parsed[_CORRUPT].isNotNull(),
            sf.when(~is_object, sf.lit("it is not a JSON object")).otherwise(
                sf.concat(sf.lit("field "), sf.concat_ws(", ", *wrong))
            ),
        )
        .when(
            is_missing,
            sf.concat(sf.lit("field "), sf.concat_ws(", ", *missing), sf.lit(": is missing")),
        )
    )


def _told(field: StructField) -> str:
    return f"{field.name}: is not {field.dataType.simpleString()}"


def read_json_schema(ddl: str, where: str) -> StructType:
    try:
        parsed: DataType = StructType.fromDDL(ddl)
    except Exception as error:  # whatever Spark raises, in this version and over any connection
        first = str(error).strip().splitlines()[0]
        raise SchemaError(f"{where}: {ddl.strip()!r} is not a schema as DDL: {first}") from None
    if not isinstance(parsed, StructType) or not parsed.fields:
        raise SchemaError(f"{where}: has no field")
    return parsed


def infer_json_schema(sample: DataFrame, column: str, file: Path) -> None:
    """Keeps the schema that the values of a sample have: it does not change from then on."""
    values = [row[0] for row in sample.select(column).collect() if row[0]]
    spark = sample.sparkSession
    texts = [bytes(each).decode(errors="replace") for each in values]
    read = spark.read.options(**_OPTIONS).json(spark.sparkContext.parallelize(texts, 1))
    fields = [each for each in read.schema.fields if each.name != _CORRUPT]
    if not fields:
        raise SchemaError(f"{file}: cannot be inferred: there is no JSON object in the topic yet")
    file.write_text(f"{StructType(fields).toDDL()}\n", encoding="utf-8")
