"""What a pipeline is: where rows come from, what becomes of them, where they go. Pure.

The same may be written as a TOML file (declaration_file.py) or in Python. What is wrong with either
is told by find_problems (problems.py), all of it at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame

from snakka.pipeline.option_values import client_options
from snakka.pipeline.tables.table import TableOptions

RAW: Final = "raw"
STRING: Final = "string"
JSON: Final = "json"
AVRO: Final = "avro"
PROTOBUF: Final = "protobuf"
FORMATS: Final = (JSON, AVRO, PROTOBUF, STRING, RAW)
PLAIN: Final = "none"
CONFLUENT: Final = "confluent"
FRAMINGS: Final = (PLAIN, CONFLUENT)
EARLIEST: Final = "earliest"

Transform = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How bytes become columns.

    JSON has a schema as DDL, here or in a file; with `infer_sample` the file is made from so many
    records where there is none yet. Avro and Protobuf have a file: a schema, and a descriptor set
    with the name of a message. `framing` is what comes before the bytes of the format.
    """

    format: str = RAW
    schema: str = ""
    schema_file: Path | None = None
    infer_sample: int = 0
    message: str = ""
    framing: str = PLAIN


@dataclass(frozen=True, slots=True)
class Source:
    """Topics whose records are decoded in one way.

    `starting` is earliest, latest, offsets in JSON or an ISO 8601 time, and counts until the
    pipeline has written for the first time.
    """

    topics: tuple[str, ...]
    value: Decoding = field(default_factory=Decoding)
    key: Decoding | None = None
    starting: str = EARLIEST


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """A topic that rows go to; `options` are those of the sink `snakka`."""

    topic: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MirrorOptions:
    """Topics of the same names on another cluster, and the groups that are to follow."""

    options: Mapping[str, str]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A declared pipeline.

    `options` are those of the source `snakka`: servers, settings of the client, limits. The
    transformation is SQL over the view `source`, or a function, which may be given as
    `module:function`. Rows for which a check is not true are rejected, as are records that cannot
    be decoded; without a topic for them the first one stops the pipeline.
    """

    name: str
    options: Mapping[str, str]
    sources: tuple[Source, ...]
    target: TableOptions | TopicOptions | MirrorOptions
    sql: str = ""
    function: str | Transform | None = None
    checks: Mapping[str, str] = field(default_factory=dict)
    dead_letter_topic: str | None = None
    has_coordinates: bool = True
    checkpoint: str | None = None
    trigger_ms: int = 0
    directory: Path = Path()  # where modules of functions are looked for, too

    @property
    def bootstrap_servers(self) -> str:
        return client_options(self.options)["bootstrap.servers"]

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(topic for source in self.sources for topic in source.topics)
