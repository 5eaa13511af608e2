"""The log of a table that is plain Parquet in a directory, with commits of our own.

A commit is one file `_snakka/<version>.json`, which is linked to its name when it is complete: that
fails where the name is taken, and a version is there as a whole or not at all. It tells which files
it adds and removes, and what holds from it on: the columns, and how far each pipeline is. Every so
often one lists all files, so that few need be read: those from its `base` on.

Whoever reads the directory without this log sees the files of killed and running commits, too. The
file system has to have hard links.
"""

import json
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pyspark.sql.types import StructType

from snakka.pipeline.offsets import Offsets, from_json, to_json
from snakka.pipeline.tables.file_table import Shape, Version
from snakka.pipeline.tables.files import delete
from snakka.pipeline.tables.packing import Sized
from snakka.pipeline.tables.progress import check_step
from snakka.pipeline.tables.properties import check_properties
from snakka.pipeline.tables.schema import (
    check_partitioning,
    check_same_partitioning,
    evolve,
    to_arrow,
)
from snakka.pipeline.tables.table import Step, Swept, TableOptions
from snakka.pipeline.tables.writing import DataFile, Layout

LOG: Final = "_snakka"
COMMITS_PER_BASE: Final = 50


@dataclass(frozen=True, slots=True)
class _Commit:
    """One file of the log, as it is in JSON. Paths are below the location."""

    time_ms: int
    base: int
    schema: dict[str, Any]
    partition_by: list[str]
    offsets: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    files: dict[str, tuple[int, int]] = field(default_factory=dict)  # added, or all if it is a base
    removed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _State:
    """The table at a version."""

    version: int
    last: _Commit
    files: dict[str, tuple[int, int]]

    @property
    def schema(self) -> StructType:
        return StructType.fromJson(self.last.schema)


class ParquetLog:
    """The log in `_snakka`."""

    def __init__(self, options: TableOptions) -> None:
        check_properties("a Parquet", options.properties, {})
        self._options = options
        self._location = Path(options.location)
        self._log = self._location / LOG

    def find_offsets(self, pipeline: str) -> Offsets | None:
        state = self._find()
        return None if state is None else _stored(state, pipeline)

    def find_version(self) -> Version | None:
        state = self._find()
        if state is None:
            return None
        files = [
            Sized(str(self._location / path), os.path.dirname(path), size_bytes, row_count)
            for path, (size_bytes, row_count) in state.files.items()
        ]
        return Version(self._shape(state), files)

    def fit(self, rows: StructType, step: Step) -> Shape:
        while True:
            state = self._find()
            if state is not None:
                check_step(_stored(state, step.pipeline), step, self._options.location)
            before = StructType([]) if state is None else state.schema
            schema = evolve(before, rows, widens=True)
            check_partitioning(schema, self._options.partition_by)
            if state is not None and schema == before:
                return self._shape(state)
            self._commit(state, schema)

    def add(self, files: Sequence[DataFile], step: Step) -> int:
        while True:
            state = self._get()
            stored = _stored(state, step.pipeline)
            check_step(stored, step, self._options.location)
            offsets = {step.pipeline: to_json({**(stored or {}), **step.end})}
            if self._commit(state, state.schema, files, offsets=offsets):
                return state.version + 1

    def replace(self, old: Sequence[Sized], new: Sequence[DataFile]) -> bool:
        removed = [os.path.relpath(each.path, self._location) for each in old]
        while True:
            state = self._get()
            if not state.files.keys() >= set(removed):
                return False
            if self._commit(state, state.schema, new, removed=removed):
                return True

    def expire(self, older_than_ms: int) -> Swept:
        """Deletes what only versions from before a moment have; the last one stays."""
        commits = {version: self._load(version) for version in self._versions()}
        last = max(commits)
        first = min(
            version
            for version, each in commits.items()
            if each.time_ms >= older_than_ms or version == last
        )
        kept = self._state_at(first).files.keys() | _paths(
            each for version, each in commits.items() if version > first
        )
        gone = _paths(each for version, each in commits.items() if version < first) - kept
        # What the log knows of is deleted first: whoever is killed in between can begin again.
        done = delete(self._location / path for path in gone)
        delete(self._path(version) for version in commits if version < commits[first].base)
        return done

    def sweepable(self) -> Sequence[str]:
        return ["*=*/" * len(self._options.partition_by) + "*.parquet", f"{LOG}/*.tmp"]

    def known_files(self) -> set[str]:
        paths = _paths(self._load(version) for version in self._versions())
        return {str(self._location / each) for each in paths}

    def _find(self) -> _State | None:
        while True:
            versions = self._versions()
            if not versions:
                return None
            try:
                state = self._state_at(versions[-1])
            except FileNotFoundError:
                continue  # it has expired meanwhile, so there is a later one
            check_same_partitioning(tuple(state.last.partition_by), self._options)
            return state

    def _get(self) -> _State:
        state = self._find()
        if state is None:
            raise FileNotFoundError(f"{self._location}: the table is gone")
        return state

    def _versions(self) -> list[int]:
        return sorted(int(each.stem) for each in self._log.glob("*.json"))

    def _state_at(self, version: int) -> _State:
        last = self._load(version)
        files: dict[str, tuple[int, int]] = {}
        for at in range(last.base, version + 1):
            commit = last if at == version else self._load(at)
            files |= commit.files
            for path in commit.removed:
                files.pop(path, None)
        return _State(version, last, files)

    def _load(self, version: int) -> _Commit:
        return _Commit(**json.loads(self._path(version).read_text()))

    def _path(self, version: int) -> Path:
        return self._log / f"{version:020}.json"

    def _shape(self, state: _State) -> Shape:
        layout = Layout(self._options.location, to_arrow(state.schema), self._options.partition_by)
        return Shape(state.schema, layout)

    def _commit(
        self,
        before: _State | None,
        schema: StructType,
        added: Sequence[DataFile] = (),
        *,
        offsets: dict[str, dict[str, dict[str, int]]] | None = None,
        removed: Sequence[str] = (),
    ) -> bool:
        """Whether this became the version that follows."""
        version = 0 if before is None else before.version + 1
        base = 0 if before is None else before.last.base
        files = {each.path: (each.size_bytes, each.row_count) for each in added}
        if before is not None and version - base >= COMMITS_PER_BASE:
            base = version
            files |= {path: before.files[path] for path in before.files.keys() - set(removed)}
        commit = _Commit(
            time_ms=time.time_ns() // 1_000_000,
            base=base,
            schema=schema.jsonValue(),
            partition_by=list(self._options.partition_by),
            offsets={**(before.last.offsets if before else {}), **(offsets or {})},
            files=files,
            removed=list(removed),
        )
        return self._publish(version, commit)

    def _publish(self, version: int, commit: _Commit) -> bool:
        self._log.mkdir(parents=True, exist_ok=True)
        written = self._log / f"{uuid.uuid4()}.tmp"
        written.write_text(json.dumps(asdict(commit)))
        try:
            os.link(written, self._path(version))
        except FileExistsError:
            return False
        finally:
            written.unlink()
        return True


def _paths(commits: Iterable[_Commit]) -> set[str]:
    return {path for each in commits for path in each.files}


def _stored(state: _State, pipeline: str) -> Offsets | None:
    found = state.last.offsets.get(pipeline)
    return None if found is None else from_json(found)
