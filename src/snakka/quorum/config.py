"""What can be set about the quorum; Kafka's names follow `controller.quorum.`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuorumConfig:
    election_timeout_ms: int = 1_000  # election.timeout.ms, at least; up to twice that by chance
    fetch_timeout_ms: int = 2_000  # fetch.timeout.ms
    election_backoff_max_ms: int = 1_000  # election.backoff.max.ms
    request_timeout_ms: int = 2_000  # request.timeout.ms
    retry_backoff_ms: int = 20  # retry.backoff.ms
    auto_join_enable: bool = False  # auto.join.enable
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 8 * 1024 * 1024  # fetch.max.bytes
    fetch_snapshot_max_bytes: int = 8 * 1024 * 1024  # fetch.snapshot.max.bytes
    batch_max_bytes: int = 8 * 1024 * 1024
    voter_lag_ms_max: int = 10_000  # how long ago a new voter may have been caught up
    observer_timeout_ms: int = 300_000  # until one that does not fetch is forgotten
    observers_max: int = 10_000
