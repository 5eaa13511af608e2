"""The cluster as this node knows it: committed records in, images to everybody who needs them."""

from collections.abc import Callable, Sequence

from snakka.metadata.image import MetadataImage, Provenance
from snakka.metadata.loader import MetadataLoader, Published
from snakka.protocol.internal.frames import METADATA_RECORDS, read_typed

Subscriber = Callable[[Published], None]


class MetadataFollower:
    """Applies what the quorum has committed, in its order."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._loader = MetadataLoader()
        self._subscribers: list[Subscriber] = []
        self._now_ms = now_ms
        self.applied_offset = -1

    @property
    def image(self) -> MetadataImage:
        return self._loader.image

    def subscribe(self, subscriber: Subscriber) -> None:
        """Is told of every image from now on, and what in it is new."""
        self._subscribers.append(subscriber)

    def on_committed(self, values: Sequence[bytes], last_offset: int) -> None:
        records = [read_typed(METADATA_RECORDS, value) for value in values]
        published = self._loader.load(records, Provenance(last_offset, 0, self._now_ms()))
        self.applied_offset = last_offset
        if published is not None:
            for subscriber in self._subscribers:
                subscriber(published)
