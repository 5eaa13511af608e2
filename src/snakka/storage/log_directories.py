"""All of a node's log directories (KIP-112, KIP-113): which are online, and where a partition is.

A directory that fails is let go of with all its logs, and comes back with a restart only. Paths are
absolute, ids are those of `meta.properties`.

Not here: what a failure means for the node (node/directory_failures.py).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from snakka.protocol.types import Uuid
from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from snakka.storage.log_directory import LogDirectory, NewLog
from snakka.storage.moving import Move
from snakka.storage.names import DirectoryKind, TopicPartition
from snakka.storage.placement import rank_directories
from snakka.storage.residence import Fate, Found, Residence, decide_fates


class LogDirectories:
    """The directories by path, in the order of `log.dirs`. Blocks where `LogDirectory` does."""

    def __init__(
        self,
        ids: Mapping[str, Uuid],
        directories: Iterable[LogDirectory],
        failed: Mapping[str, str],
        cordoned: Collection[str] = (),
    ) -> None:
        self.ids = ids  # of all whose meta.properties could be read
        self.online = {each.path: each for each in directories}
        self.offline = dict(failed)  # why, by path
        self.cordoned = frozenset(cordoned)
        self.preferred: dict[TopicPartition, str] = {}  # paths for partitions that are to come
        self.busy: set[TopicPartition] = set()  # compacted just now, or moved: never both

    def __iter__(self) -> Iterator[LogDirectory]:
        return iter(list(self.online.values()))

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.online, *self.offline)

    @property
    def cordoned_ids(self) -> list[Uuid]:
        return [self.ids[path] for path in self.online if path in self.cordoned]

    def find(self, partition: TopicPartition) -> LogDirectory | None:
        """The directory that has the partition's current log."""
        return next((each for each in self if partition in each.logs), None)

    def find_log(self, partition: TopicPartition) -> Log | None:
        directory = self.find(partition)
        return None if directory is None else directory.logs[partition]

    def find_future(self, partition: TopicPartition) -> LogDirectory | None:
        """The directory that the partition moves to."""
        return next((each for each in self if partition in each.futures), None)

    def find_move(self, partition: TopicPartition) -> Move | None:
        """A move that a restart has interrupted."""
        source, target = self.find(partition), self.find_future(partition)
        if source is None or target is None:
            return None
        return Move(partition, source, target)

    def find_path(self, directory_id: Uuid) -> str | None:
        """Of a directory that is online."""
        return next((path for path in self.online if self.ids[path] == directory_id), None)

    def id_of(self, directory: LogDirectory) -> Uuid:
        return self.ids[directory.path]

    def create(
        self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        path: str | None = None,
        *,
        now_ms: int,
    ) -> Log:
        """An empty log: where somebody asked for it to be, or else at `path`, or where few are.

        Raises the OSError of the last directory where it could not be.
        """
        failure = OSError("no log directory is online")
        for directory in self._candidates(self.preferred.get(partition, path)):
            try:
                log = directory.create(partition, topic_id, config, now_ms=now_ms)
            except OSError as error:
                directory.fail(error)
                failure = error
                continue
            self.preferred.pop(partition, None)
            return log
        raise failure

    def create_all(self, wanted: Iterable[tuple[NewLog, str | None]], *, now_ms: int) -> None:
        """Those of many that can be made at once; what is left over is left to `create`."""
        planned: dict[str, list[NewLog]] = {path: [] for path in self.online}
        for log, path in wanted:
            chosen = self._candidates(self.preferred.get(log.partition, path), planned)[:1]
            for directory in chosen:
                planned[directory.path].append(log)
        for directory in self:
            logs = planned[directory.path]
            try:
                directory.create_all(logs, now_ms=now_ms)
            except OSError as error:
                directory.fail(error)
                continue
            for log in logs:
                self.preferred.pop(log.partition, None)

    def _candidates(
        self, wanted: str | None, planned: Mapping[str, Sequence[NewLog]] = MappingProxyType({})
    ) -> list[LogDirectory]:
        """Where a log may be made, best first; `planned` are those that are about to be."""
        if wanted is not None and wanted in self.online:
            return [self.online[wanted]]
        counts = {
            each.path: len(each.logs) + len(each.futures) + len(planned.get(each.path, ()))
            for each in self
        }
        return [self.online[path] for path in rank_directories(counts, self.cordoned)]

    def delete(self, partition: TopicPartition, *, now_ms: int) -> None:
        for directory in self:
            if partition in directory.futures:
                directory.remove_future(partition, now_ms=now_ms)
            if partition in directory.logs:
                directory.remove(partition, DirectoryKind.DELETE, now_ms=now_ms)

    def checkpoint(self) -> None:
        for directory in self:
            directory.checkpoint()

    def take_offline(self, path: str, reason: str) -> LogDirectory | None:
        """Lets go of a directory with all its logs; None where that has been done."""
        directory = self.online.pop(path, None)
        if directory is not None:
            self.offline[path] = reason
            for log in (*directory.logs.values(), *directory.futures.values()):
                log.forget_files()
        return directory

    def settle(
        self, residences: Mapping[TopicPartition, Residence], *, now_ms: int
    ) -> list[tuple[str, TopicPartition, Fate]]:
        """Brings what was found at the start in line with the metadata; tells what was done."""
        done: list[tuple[str, TopicPartition, Fate]] = []
        for partition in {p for each in self for p in (*each.logs, *each.futures)}:
            found = self._found(partition)
            residence = residences.get(partition)
            fates = decide_fates(found, residence, are_all_online=not self.offline)
            # What is promoted takes its name last: the one that has it may be in its way.
            for each, fate in sorted(zip(found, fates, strict=True), key=_promotions_last):
                directory = self.online[each.path]
                try:
                    self._carry_out(directory, partition, each.is_future, fate, now_ms)
                except OSError as error:
                    directory.fail(error)
                if fate is not Fate.SERVE:
                    done.append((each.path, partition, fate))
        return done

    def _found(self, partition: TopicPartition) -> Sequence[Found]:
        found = []
        for directory in self:
            for is_future, logs in ((False, directory.logs), (True, directory.futures)):
                log = logs.get(partition)
                if log is not None:
                    epoch = log.epochs.latest_epoch
                    topic_id = directory.find_topic_id(log)
                    extent = -1 if epoch is None else epoch, log.log_end_offset
                    found.append(Found(directory.path, is_future, topic_id, *extent))
        return found

    def _carry_out(
        self,
        directory: LogDirectory,
        partition: TopicPartition,
        is_future: bool,
        fate: Fate,
        now_ms: int,
    ) -> None:
        match fate:
            case Fate.SERVE | Fate.RESUME:
                return
            case Fate.PROMOTE:
                directory.promote(partition)
                directory.sync_names()
            case Fate.LEAVE:
                directory.futures.pop(partition).release_writer()
            case Fate.DELETE if is_future:
                directory.remove_future(partition, now_ms=now_ms)
            case Fate.DELETE:
                directory.remove(partition, DirectoryKind.DELETE, now_ms=now_ms)
            case Fate.SET_ASIDE if is_future:
                directory.remove_future(partition, DirectoryKind.STRAY, now_ms=now_ms)
            case Fate.SET_ASIDE:
                directory.remove(partition, DirectoryKind.STRAY, now_ms=now_ms)


def _promotions_last(entry: tuple[Found, Fate]) -> bool:
    return entry[1] is Fate.PROMOTE
