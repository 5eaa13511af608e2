"""A pipeline from a TOML file; paths in it are relative to the file.

Not here: what the values may be (problems.py).
"""

import tomllib
from pathlib import Path
from typing import Final

from snakka.config.problems import ConfigurationError, Problem
from snakka.pipeline.declared.declaration import (
    EARLIEST,
    FORMATS,
    FRAMINGS,
    PLAIN,
    Decoding,
    MirrorOptions,
    Pipeline,
    Source,
    TopicOptions,
)
from snakka.pipeline.declared.problems import find_problems
from snakka.pipeline.declared.sections import Section
from snakka.pipeline.option_values import duration_ms, one_of
from snakka.pipeline.tables.opening import DEFAULT_FORMAT
from snakka.pipeline.tables.table import TableOptions

_NOWHERE: Final = TopicOptions("nowhere")  # where none is declared, which is complained of


def load_pipeline(path: Path) -> Pipeline:
    """The pipeline that a file declares; ConfigurationError with all that is wrong with it."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError([Problem(error.strerror or str(error), str(path))]) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError([Problem(str(error), str(path))]) from None
    problems: list[Problem] = []
    pipeline = _read(Section(table, str(path), problems), path.absolute().parent)
    told = [each.name or "" for each in problems]
    for problem in find_problems(pipeline, str(path)):
        # What could not be read is not what it seems to be.
        if not any(each == problem.name or each.startswith(f"{problem.name}.") for each in told):
            problems.append(problem)
    if problems:
        raise ConfigurationError(problems)
    return pipeline


def _read(top: Section, directory: Path) -> Pipeline:
    sql, function = _transformation(top)
    pipeline = Pipeline(
        name=top.text("name"),
        options=top.mapping("options"),
        sources=_sources(top, directory),
        target=_target(top, directory),
        sql=sql,
        function=function,
        checks=top.mapping("checks"),
        dead_letter_topic=top.text("dead_letter_topic", "") or None,
        has_coordinates=top.flag("coordinates", default=True),
        checkpoint=_place(top.text("checkpoint", ""), directory) or None,
        trigger_ms=top.parsed("trigger", duration_ms, 0),
        directory=directory,
    )
    top.close()
    return pipeline


def _sources(top: Section, directory: Path) -> tuple[Source, ...]:
    sections = top.sections("sources")
    if "sources" not in top:
        top.complain("sources", "it must be given")
    sources = []
    for each in sections:
        value, key = each.section("value"), each.section("key")
        sources.append(
            Source(
                topics=each.texts("topics", is_required=True),
                value=Decoding() if value is None else _decoding(value, directory),
                key=None if key is None else _decoding(key, directory),
                starting=each.text("starting", EARLIEST),
            )
        )
        each.close()
    return tuple(sources)


def _decoding(section: Section, directory: Path) -> Decoding:
    file = section.text("schema_file", "")
    decoding = Decoding(
        format=section.parsed("format", one_of(*FORMATS), FORMATS[-1]),
        schema=section.text("schema", ""),
        schema_file=directory / file if file else None,
        infer_sample=section.count("infer_sample"),
        message=section.text("message", ""),
        framing=section.parsed("framing", one_of(*FRAMINGS), PLAIN),
    )
    section.close()
    return decoding


def _transformation(top: Section) -> tuple[str, str | None]:
    section = top.section("transform")
    if section is None:
        return "", None
    sql, function = section.text("sql", ""), section.text("function", "") or None
    section.close()
    return sql, function


def _target(top: Section, directory: Path) -> TableOptions | TopicOptions | MirrorOptions:
    table, topic, mirror = (top.section(each) for each in ("table", "topic", "mirror"))
    if sum(each is not None for each in (table, topic, mirror)) != 1:
        top.complain("table", "one of [table], [topic] and [mirror] must be given, and only one")
    if table is not None:
        return _table(table, directory)
    if topic is not None:
        options = TopicOptions(topic.text("name"), topic.mapping("options"))
        topic.close()
        return options
    if mirror is not None:
        mirrored = MirrorOptions(mirror.mapping("options"), mirror.texts("groups"))
        mirror.close()
        return mirrored
    return _NOWHERE


def _table(section: Section, directory: Path) -> TableOptions:
    options = TableOptions(
        format=section.text("format", DEFAULT_FORMAT),
        location=_place(section.text("location"), directory),
        partition_by=section.texts("partition_by"),
        properties=section.mapping("properties"),
    )
    section.close()
    return options


def _place(location: str, directory: Path) -> str:
    """A path next to the file, unless it says where it is: absolute, or with a scheme."""
    if not location or "://" in location:
        return location
    return str(directory / location)
