"""A compacted log with values to be superseded."""

from snakka.storage.config import LogConfig
from tests.storage.making import NOW_MS, Harness, keyed

CONFIG = LogConfig(
    segment_bytes=1000, index_interval_bytes=100, is_compacted=True, is_deleted=False
)


def fill(harness: Harness, count: int = 60, keys: int = 7) -> None:
    for n in range(count):
        harness.append(keyed((b"%d" % (n % keys), b"value-%d" % n)))
    harness.log.roll(now_ms=NOW_MS)
