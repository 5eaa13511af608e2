"""The cluster as this node knows it: committed records in, images to everybody who needs them."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from snakka.metadata.image import MetadataImage, Provenance
from snakka.metadata.loader import MetadataLoader, Published
from snakka.protocol.internal.frames import METADATA_RECORDS, read_typed

Subscriber = Callable[[Published], None]


class Committed(NamedTuple):
    """A batch of the metadata log that a majority has."""

    values: Sequence[bytes]  # of its records; none of a control batch
    last: Provenance
    size_bytes: int


class MetadataFollower:
    """Applies what the quorum has committed, in its order."""

    def __init__(self) -> None:
        self._loader = MetadataLoader()
        self._subscribers: list[Subscriber] = []
        self._watchers: list[Callable[[Committed], None]] = []
        self.applied_offset = -1

    @property
    def image(self) -> MetadataImage:
        return self._loader.image

    @property
    def is_in_transaction(self) -> bool:
        """Whether the image lacks records that are committed."""
        return self._loader.is_in_transaction

    def watch_commits(self, watcher: Callable[[Committed], None]) -> None:
        """Is told of every batch, once it is applied."""
        self._watchers.append(watcher)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Is told of every image from now on, and what in it is new."""
        self._subscribers.append(subscriber)

    def on_committed(self, committed: Committed) -> None:
        self.applied_offset = committed.last.offset
        if committed.values:
            records = [read_typed(METADATA_RECORDS, value) for value in committed.values]
            self._publish(self._loader.load(records, committed.last))
        for watcher in self._watchers:
            watcher(committed)

    def on_snapshot(self, values: Iterable[bytes], last: Provenance) -> None:
        """Goes on from a snapshot, which says what has gone, too."""
        records = (read_typed(METADATA_RECORDS, value) for value in values)
        self.applied_offset = last.offset
        self._publish(self._loader.install(records, last))

    def _publish(self, published: Published) -> None:
        for subscriber in self._subscribers:
            subscriber(published)
