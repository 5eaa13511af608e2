"""A topic's configuration as the log and the replication take it."""

from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.topic import TopicConfig
from snakka.protocol.records.batch import TimestampType
from snakka.protocol.records.compression import Compression
from snakka.replication.admission import TopicRules
from snakka.storage.config import LogConfig

_PRODUCERS_CODEC: Final = "producer"
_UNCOMPRESSED: Final = "uncompressed"
_LEVELS: Final = {
    Compression.GZIP: "compression.gzip.level",
    Compression.LZ4: "compression.lz4.level",
    Compression.ZSTD: "compression.zstd.level",
}


def log_config(topic: TopicConfig, broker: BrokerConfig) -> LogConfig:
    return LogConfig(
        segment_bytes=topic.segment_bytes,
        segment_ms=topic.get_int("segment.ms"),
        segment_jitter_ms=topic.get_int("segment.jitter.ms"),
        segment_index_bytes=topic.get_int("segment.index.bytes"),
        index_interval_bytes=topic.get_int("index.interval.bytes"),
        max_message_bytes=topic.get_int("max.message.bytes"),
        message_timestamp_type=_timestamp_type(topic),
        retention_ms=topic.get_int("retention.ms"),
        retention_bytes=topic.get_int("retention.bytes"),
        is_deleted=topic.is_deleted,
        is_compacted=topic.is_compacted,
        producer_id_expiration_ms=broker.get_int("producer.id.expiration.ms"),
        min_cleanable_dirty_ratio=topic.get_float("min.cleanable.dirty.ratio"),
        min_compaction_lag_ms=topic.get_int("min.compaction.lag.ms"),
        max_compaction_lag_ms=topic.get_int("max.compaction.lag.ms"),
        delete_retention_ms=topic.get_int("delete.retention.ms"),
        flush_messages=topic.get_int("flush.messages"),
        flush_ms=topic.get_int("flush.ms"),
    )


def topic_rules(topic: TopicConfig) -> TopicRules:
    codec = _codec(topic)
    level = _LEVELS.get(codec) if codec is not None else None
    return TopicRules(
        min_insync_replicas=topic.get_int("min.insync.replicas"),
        needs_keys=topic.is_compacted,
        compression=codec,
        compression_level=None if level is None else topic.get_int(level),
        timestamp_type=_timestamp_type(topic),
        timestamp_before_max_ms=topic.get_int("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=topic.get_int("message.timestamp.after.max.ms"),
    )


def _timestamp_type(topic: TopicConfig) -> TimestampType:
    is_stamped = topic.get_text("message.timestamp.type") == "LogAppendTime"
    return TimestampType.LOG_APPEND_TIME if is_stamped else TimestampType.CREATE_TIME


def _codec(topic: TopicConfig) -> Compression | None:
    name = topic.get_text("compression.type")
    if name == _PRODUCERS_CODEC:
        return None
    return Compression.NONE if name == _UNCOMPRESSED else Compression[name.upper()]
