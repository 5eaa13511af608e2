"""What replication refuses. Each class stands for one error code (apis/errors.py)."""


class ReplicationError(Exception):
    """Anything a partition refuses."""


class UnknownPartitionError(ReplicationError):
    """This broker has no replica of the partition."""


class ReplicaOfflineError(ReplicationError):
    """The log directory with the replica has failed."""


class ReplicaNotAvailableError(ReplicationError):
    """There is no replica here to be moved to another directory."""


class UnknownTopicIdError(ReplicationError):
    """This broker knows no topic of that id."""


class InvalidRequiredAcksError(ReplicationError):
    """Neither no acknowledgement, nor the leader's, nor that of all in sync."""


class NotLeaderError(ReplicationError):
    """Another broker leads the partition."""


class FencedLeaderEpochError(ReplicationError):
    """The client knows an older leader epoch than this broker."""


class UnknownLeaderEpochError(ReplicationError):
    """The client knows a newer leader epoch than this broker."""


class NotEnoughReplicasError(ReplicationError):
    """Fewer replicas are in sync than `min.insync.replicas` asks for; nothing was appended."""


class UnverifiedTransactionError(ReplicationError):
    """A transactional batch whose transaction nobody vouches for (KIP-890)."""


class FetchSessionNotFoundError(ReplicationError):
    """No such fetch session is kept here, or no longer (KIP-227)."""


class InvalidFetchSessionEpochError(ReplicationError):
    """A fetch that is not the next one of its session."""


class FetchSessionTopicIdError(ReplicationError):
    """A session by topic names is continued by topic ids, or the other way round (KIP-516)."""
