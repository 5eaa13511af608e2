"""A broker as it registered, and whether it may lead and serve.

Not here: who may register (controller/broker_registration.py), whether it still answers
(controller/sessions.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from snakka.metadata.directories import MIGRATING, UNASSIGNED, is_online
from snakka.metadata.versions import Levels
from snakka.protocol.internal.metadata import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
from snakka.protocol.types import Uuid


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a listener is reached. `security_protocol` by Kafka's number."""

    name: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class Broker:
    """`epoch` is a new one with every process; `fenced` from registration to the first catch-up.

    `log_dirs` are the ones online; none of them known means that all are taken to be.
    """

    broker_id: int
    incarnation_id: Uuid
    epoch: int
    endpoints: tuple[Endpoint, ...]
    features: Mapping[str, Levels]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[Uuid, ...]
    cordoned_log_dirs: tuple[Uuid, ...] | None = None
    is_migrating_zk_broker: bool = False

    @classmethod
    def of(cls, record: RegisterBrokerRecord) -> "Broker":
        cordoned = record.cordoned_log_dirs
        return cls(
            broker_id=record.broker_id,
            incarnation_id=record.incarnation_id,
            epoch=record.broker_epoch,
            endpoints=tuple(
                Endpoint(each.name, each.host, each.port, each.security_protocol)
                for each in record.end_points
            ),
            features={
                each.name: Levels(each.min_supported_version, each.max_supported_version)
                for each in record.features
            },
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            log_dirs=tuple(record.log_dirs),
            cordoned_log_dirs=None if cordoned is None else tuple(cordoned),
            is_migrating_zk_broker=record.is_migrating_zk_broker,
        )

    def after(self, change: BrokerRegistrationChangeRecord) -> "Broker":
        """`fenced` is 1 to fence, -1 to unfence and 0 for neither; shutdown is never taken back."""
        cordoned = change.cordoned_log_dirs
        return replace(
            self,
            fenced=change.fenced > 0 if change.fenced else self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown or change.in_controlled_shutdown > 0,
            log_dirs=tuple(change.log_dirs) or self.log_dirs,
            cordoned_log_dirs=self.cordoned_log_dirs if cordoned is None else tuple(cordoned),
        )

    def record(self) -> RegisterBrokerRecord:
        cordoned = self.cordoned_log_dirs
        return RegisterBrokerRecord(
            broker_id=self.broker_id,
            is_migrating_zk_broker=self.is_migrating_zk_broker,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=[
                BrokerEndpoint(
                    name=each.name,
                    host=each.host,
                    port=each.port,
                    security_protocol=each.security_protocol,
                )
                for each in self.endpoints
            ],
            features=[
                BrokerFeature(
                    name=name, min_supported_version=levels.min, max_supported_version=levels.max
                )
                for name, levels in self.features.items()
            ],
            rack=self.rack,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            log_dirs=list(self.log_dirs),
            cordoned_log_dirs=None if cordoned is None else list(cordoned),
        )

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions and be in an ISR."""
        return not self.fenced and not self.in_controlled_shutdown

    def has_online_dir(self, directory: Uuid) -> bool:
        return is_online(directory, self.log_dirs)

    @property
    def default_dir(self) -> Uuid:
        """Where a new replica goes, as far as that is known before the broker says so."""
        if not self.log_dirs:
            return MIGRATING
        return self.log_dirs[0] if len(self.log_dirs) == 1 else UNASSIGNED
