"""Headers that say where a record came from: of dead letters, of copies, of what a pipeline writes.

Their values are text. A header that the record has under such a name, from a pipeline before this
one, stays where it is: the last one of a name is meant.
"""

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

PREFIX: Final = "snakka."
HEADERS_TYPE: Final = "array<struct<key:string,value:binary>>"


def with_headers(headers: Column, told: Mapping[str, Column]) -> Column:
    """The headers of a record and these."""
    added = [
        sf.struct(
            sf.lit(PREFIX + name).alias("key"),
            value.cast("string").cast("binary").alias("value"),
        )
        for name, value in told.items()
    ]
    own = sf.coalesce(headers, sf.array().cast(HEADERS_TYPE))
    return sf.concat(own, sf.array(*added)).cast(HEADERS_TYPE)


def header(name: str) -> Column:
    """The text of a header of ours, in rows of the source `snakka`; null where it is not there."""
    full_name = sf.lit(PREFIX + name)
    found = sf.filter("headers", lambda each: each["key"] == full_name)
    return sf.try_element_at(found, sf.lit(-1))["value"].cast("string")
