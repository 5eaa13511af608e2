"""Answers about topics and brokers, encoded once for all who ask alike until one of these changes.

To describe a thousand partitions costs a millisecond, and after a change all clients of a topic
ask for them at about the same time.

Not here: what an answer says (metadata.py).
"""

from collections.abc import Hashable
from typing import Final

from snakka.metadata.brokers import Broker
from snakka.metadata.image import MetadataImage, Topics
from snakka.metadata.shared_map import SharedMap
from snakka.protocol.frames import EncodedResponse

_BYTES_MAX: Final = 4 * 1024 * 1024
_BYTES_EACH: Final = 1024  # of an answer's entry, and of a short question


class KeptAnswers:
    """No more of them than a few MiB; a question is about as long as the names in its answer."""

    def __init__(self, size_bytes_max: int = _BYTES_MAX) -> None:
        self._size_bytes_max = size_bytes_max
        self._size_bytes = 0
        self._answers: dict[Hashable, EncodedResponse] = {}
        self._topics: Topics | None = None
        self._brokers: SharedMap[int, Broker] | None = None

    def find(self, question: Hashable, image: MetadataImage) -> EncodedResponse | None:
        """The answer that still holds; `question` says everything else that it depends on."""
        if image.topics is not self._topics or image.brokers is not self._brokers:
            self._forget()
            self._topics, self._brokers = image.topics, image.brokers
        return self._answers.get(question)

    def keep(self, question: Hashable, answer: EncodedResponse) -> None:
        """One that was made of the image of the last `find`."""
        size_bytes = _BYTES_EACH + len(answer.body)
        if size_bytes > self._size_bytes_max:
            return
        if self._size_bytes + size_bytes > self._size_bytes_max:
            self._forget()
        self._answers[question] = answer
        self._size_bytes += size_bytes

    def _forget(self) -> None:
        self._answers.clear()
        self._size_bytes = 0
