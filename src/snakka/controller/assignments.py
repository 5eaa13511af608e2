"""The replicas of new partitions, placed or given by hand, as the partitions they make."""

from collections.abc import Sequence

from snakka.controller.decision import RefusedError
from snakka.controller.view import View
from snakka.metadata.partition import Partition
from snakka.protocol.error_codes import ErrorCode


def check_manual(view: View, replicas: Sequence[int], replication_factor: int | None) -> None:
    """Registered brokers, each once, and as many as the partitions before have."""
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if not replicas:
        raise RefusedError(code, "The manual partition assignment includes an empty replica list.")
    for broker_id in sorted(replicas):
        if broker_id not in view.image.brokers:
            raise RefusedError(
                code,
                f"The manual partition assignment includes broker {broker_id}, but no such broker"
                " is registered.",
            )
        if replicas.count(broker_id) > 1:
            raise RefusedError(
                code,
                f"The manual partition assignment includes the broker {broker_id} more than once.",
            )
    if replication_factor not in (None, len(replicas)):
        raise RefusedError(
            code,
            f"The manual partition assignment includes a partition with {len(replicas)}"
            " replica(s), but this is not consistent with previous partitions, which have"
            f" {replication_factor} replica(s).",
        )


def manual_partition(view: View, partition_id: int, replicas: Sequence[int]) -> Partition:
    isr = active(view, replicas)
    if not isr:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "All brokers specified in the manual partition assignment for partition"
            f" {partition_id} are fenced or in controlled shutdown.",
        )
    return new_partition(view, replicas, isr)


def placed_partition(view: View, replicas: Sequence[int]) -> Partition:
    isr = active(view, replicas)
    if not isr:
        raise RefusedError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {len(replicas)} time(s): All brokers are currently"
            " fenced or in controlled shutdown.",
        )
    return new_partition(view, replicas, isr)


def active(view: View, replicas: Sequence[int]) -> list[int]:
    return [each for each in replicas if view.image.is_active(each)]


def new_partition(view: View, replicas: Sequence[int], isr: Sequence[int]) -> Partition:
    directories = tuple(view.default_dir(each) for each in replicas)
    return Partition(tuple(replicas), tuple(isr), isr[0], directories)
