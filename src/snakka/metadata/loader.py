"""Committed records in, the images that may be shown out.

Records of one batch show together, and so do those of one metadata transaction (KIP-868), however
many batches it spans; an aborted one never shows.

Not here: where records come from and who is told (the driver).
"""

from collections.abc import Iterable
from typing import NamedTuple

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.difference import difference
from snakka.metadata.errors import ReplayError
from snakka.metadata.image import EMPTY, MetadataImage, Provenance
from snakka.metadata.snapshot import image_of
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


class Published(NamedTuple):
    """The newest image, and what in it is new."""

    delta: MetadataDelta
    image: MetadataImage


class MetadataLoader:
    """The image in force, and the records that wait for the end of their transaction."""

    def __init__(self, image: MetadataImage = EMPTY) -> None:
        self.image = image
        self._in_transaction: list[MetadataRecord] | None = None

    @property
    def is_in_transaction(self) -> bool:
        """No snapshot may be taken meanwhile: it would miss what the image does not show yet."""
        return self._in_transaction is not None

    def load(self, batch: Iterable[MetadataRecord], provenance: Provenance) -> Published:
        """What one committed batch shows: nothing new where it only adds to a transaction."""
        delta = MetadataDelta(self.image)
        for record in batch:
            match record:
                case BeginTransactionRecord():
                    if self._in_transaction is not None:
                        raise ReplayError(f"{record} is inside another transaction")
                    self._in_transaction = []
                case EndTransactionRecord():
                    for each in self._end(record):
                        delta.replay(each)
                case AbortTransactionRecord():
                    self._end(record)
                case _ if self._in_transaction is not None:
                    self._in_transaction.append(record)
                case _:
                    delta.replay(record)
        return self._publish(delta, delta.after(provenance))

    def install(self, records: Iterable[MetadataRecord], provenance: Provenance) -> Published:
        """A snapshot. The delta starts from the image in force: it tells what has gone, too."""
        self._in_transaction = None
        image = image_of(records, provenance)
        return self._publish(difference(self.image, image), image)

    def _end(self, record: MetadataRecord) -> list[MetadataRecord]:
        if self._in_transaction is None:
            raise ReplayError(f"{record} is outside of a transaction")
        ended, self._in_transaction = self._in_transaction, None
        return ended

    def _publish(self, delta: MetadataDelta, image: MetadataImage) -> Published:
        self.image = image
        return Published(delta, image)
