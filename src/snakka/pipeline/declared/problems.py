"""What is wrong with a declaration, as far as it shows without Spark and without a broker.

Not here: the shape of the file (declaration_file.py), what Spark says of SQL (shaping.py).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from snakka.config.problems import Problem, nearest
from snakka.pipeline.declared.declaration import (
    AVRO,
    JSON,
    PROTOBUF,
    RAW,
    Decoding,
    MirrorOptions,
    Pipeline,
    Source,
    TopicOptions,
)
from snakka.pipeline.declared.starting import starting_option
from snakka.pipeline.errors import OptionError
from snakka.pipeline.option_values import client_options
from snakka.pipeline.options import SOURCE_OPTIONS, read_source_options
from snakka.pipeline.sink_options import read_sink_options
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.table import TableOptions

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
# What the declaration says elsewhere, or what would make rows incomplete.
_OF_THE_PIPELINE: Final = (
    *("subscribe", "subscribePattern", "assign", "includeHeaders", "pushFilters"),
    *(each for each in SOURCE_OPTIONS if each.startswith(("starting", "ending"))),
)
_ANY_SOURCE: Final = {"bootstrap.servers": "any", "subscribe": "any"}
_OF_THE_SINK: Final = ("topic", "delivery.guarantee", "checkpointLocation", "path", "queryName")


def find_problems(pipeline: Pipeline, source: str | None = None) -> list[Problem]:
    """All of them; `source` is where the declaration stands."""
    found = [*_of_names(pipeline), *_of_options(pipeline), *_of_target(pipeline)]
    for index, each in enumerate(pipeline.sources):
        found += _of_source(each, f"sources[{index}]")
    return [Problem(each.reason, source, each.name, each.value) for each in found]


def _of_names(pipeline: Pipeline) -> Iterator[Problem]:
    if not _NAME.fullmatch(pipeline.name):
        reason = "it may have up to 100 letters, digits, dots, dashes and underscores"
        yield Problem(reason, name="name", value=pipeline.name)
    if not pipeline.sources:
        yield Problem("it must be given", name="sources")
    for topic in {each for each in pipeline.topics if pipeline.topics.count(each) > 1}:
        yield Problem("a topic can be read once only", name="sources.topics", value=topic)
    if pipeline.sql and pipeline.function:
        yield Problem("give one of sql and function", name="transform")
    if isinstance(pipeline.function, str) and not re.fullmatch(
        r"[\w.]+:\w+", pipeline.function, re.ASCII
    ):
        yield Problem(
            "it is not module:function", name="transform.function", value=pipeline.function
        )
    if pipeline.dead_letter_topic in pipeline.topics:
        yield Problem(
            "it is one of the sources", name="dead_letter_topic", value=pipeline.dead_letter_topic
        )
    if pipeline.checks and not pipeline.has_coordinates:
        yield Problem("checks need them: a rejected row is told by them", name="coordinates")


def _of_options(pipeline: Pipeline) -> Iterator[Problem]:
    yield from _refused("options", pipeline.options, _OF_THE_PIPELINE)
    if "bootstrap.servers" not in client_options(pipeline.options):
        yield Problem("it must be given", name="options.bootstrap.servers")
    for name, value in pipeline.options.items():
        try:
            read_source_options({**_ANY_SOURCE, name: value})
        except OptionError as error:
            yield Problem(str(error), name=f"options.{name}", value=value)


def _of_target(pipeline: Pipeline) -> Iterator[Problem]:
    target = pipeline.target
    match target:
        case TableOptions():
            try:
                table_for(target)
            except OptionError as error:
                yield Problem(str(error), name="table")
        case TopicOptions():
            if not target.topic:
                yield Problem("it must be given", name="topic.name")
            if target.topic in pipeline.topics and "bootstrap.servers" not in target.options:
                yield Problem("it is one of the sources", name="topic.name", value=target.topic)
            yield from _of_sink_options("topic.options", target.options)
        case MirrorOptions():
            yield from _of_mirror(pipeline, target)


def _of_mirror(pipeline: Pipeline, mirror: MirrorOptions) -> Iterator[Problem]:
    if "bootstrap.servers" not in client_options(mirror.options):
        yield Problem("it must be given", name="mirror.options.bootstrap.servers")
    is_raw = all(each.value.format == RAW and each.key is None for each in pipeline.sources)
    if not is_raw or pipeline.sql or pipeline.function or pipeline.checks:
        yield Problem(
            "records are mirrored as they are: without formats, transform and checks", name="mirror"
        )
    yield from _of_sink_options("mirror.options", mirror.options)


def _of_sink_options(where: str, options: Mapping[str, str]) -> Iterator[Problem]:
    yield from _refused(where, options, _OF_THE_SINK)
    for name, value in options.items():
        try:
            read_sink_options({"bootstrap.servers": "any", name: value})
        except OptionError as error:
            yield Problem(str(error), name=f"{where}.{name}", value=value)


def _refused(where: str, options: Mapping[str, str], refused: tuple[str, ...]) -> Iterator[Problem]:
    lower = {each.lower(): each for each in refused}
    for name, value in options.items():
        if name.lower().startswith("txn") or name.lower() in lower:
            reason = "the pipeline says this elsewhere, or by itself"
            yield Problem(reason, name=f"{where}.{lower.get(name.lower(), name)}", value=value)


def _of_source(source: Source, where: str) -> Iterator[Problem]:
    if not source.topics:
        yield Problem("it must be given", name=f"{where}.topics")
    try:
        options = starting_option(source.starting)
        read_source_options({**_ANY_SOURCE, **options})
    except ValueError as error:
        reason = "it is none of earliest, latest, offsets in JSON and an ISO 8601 time"
        reason += nearest(source.starting, ("earliest", "latest"))
        if source.starting.startswith("{"):
            reason = str(error)
        yield Problem(reason, name=f"{where}.starting", value=source.starting)
    yield from _of_decoding(source.value, f"{where}.value")
    if source.key is not None:
        yield from _of_decoding(source.key, f"{where}.key")


def _of_decoding(decoding: Decoding, where: str) -> Iterator[Problem]:
    kind = decoding.format
    if kind == JSON and bool(decoding.schema) == (decoding.schema_file is not None):
        yield Problem("json has a schema or a schema_file", name=f"{where}.schema")
    if decoding.infer_sample and (kind != JSON or decoding.schema_file is None):
        yield Problem(
            "only a schema_file of json can be inferred",
            name=f"{where}.infer_sample",
            value=str(decoding.infer_sample),
        )
    if kind in (AVRO, PROTOBUF) and decoding.schema_file is None:
        yield Problem(f"{kind} has a schema_file", name=f"{where}.schema_file")
    if decoding.schema_file and not decoding.infer_sample and not decoding.schema_file.is_file():
        yield Problem(
            "there is no such file", name=f"{where}.schema_file", value=str(decoding.schema_file)
        )
    if (kind == PROTOBUF) != bool(decoding.message):
        yield Problem("protobuf has a message, and it alone", name=f"{where}.message")
