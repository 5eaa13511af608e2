"""What a topic may be called, and when two names are too much alike."""

import re
from typing import Final

from snakka.controller.decision import RefusedError
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import MetadataImage
from snakka.protocol.error_codes import ErrorCode

_LENGTH_MAX: Final = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def check_name(name: str) -> None:
    fault = _fault(name)
    if fault is not None:
        raise RefusedError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {fault}")


class TopicNames:
    """The names in use, by what metrics make of them. Soft: kept beside the image.

    Metrics write `.` as `_`, so topics that differ in nothing else would share theirs.
    """

    def __init__(self, image: MetadataImage) -> None:
        self._by_unified: dict[str, dict[str, None]] = {}
        for name in image.topics.ids:
            self._add(name)

    def update(self, delta: MetadataDelta) -> None:
        for topic in delta.topics.removed.values():
            self._by_unified.get(_unified(topic.name), {}).pop(topic.name, None)
        for created in delta.topics.created():
            self._add(created.name)

    def check(self, name: str) -> None:
        """Names that collided before this was checked stay; no others join them."""
        other = next(iter(self._by_unified.get(_unified(name), ())), None)
        if other not in (None, name):
            raise RefusedError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topic: {other}",
            )

    def _add(self, name: str) -> None:
        if "." in name or "_" in name:
            self._by_unified.setdefault(_unified(name), {})[name] = None


def _unified(name: str) -> str:
    return name.replace(".", "_")


def _fault(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > _LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {_LENGTH_MAX}"
    if not _LEGAL.fullmatch(name):
        return (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_'"
            " and '-'"
        )
    return None
