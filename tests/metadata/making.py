"""Records to replay, and histories of a cluster drawn from a seed."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, MetadataImage, Provenance
from snakka.metadata.versions import default_levels
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    AccessControlEntryRecord,
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EntityData,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
)
from snakka.protocol.types import Uuid, random_uuid

HERE: Final = Provenance(41, 3, 1_700_000_000_000)


def uuid(number: int) -> Uuid:
    return Uuid((1 << 64 | number).to_bytes(16, "big"))


def topic_id(number: int) -> Uuid:
    return uuid(1000 + number)


def log_dir(broker_id: int) -> Uuid:
    return uuid(broker_id)


def levels() -> list[FeatureLevelRecord]:
    return [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in default_levels().items()
    ]


def register(
    broker_id: int, *, epoch: int = 100, rack: str | None = None, fenced: bool = False
) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=uuid(broker_id * 10_000 + epoch),
        broker_epoch=epoch,
        end_points=[
            BrokerEndpoint(name="PLAINTEXT", host="localhost", port=9092, security_protocol=0)
        ],
        features=[
            BrokerFeature(
                name="metadata.version", min_supported_version=7, max_supported_version=30
            )
        ],
        rack=rack,
        fenced=fenced,
        log_dirs=[log_dir(broker_id)],
    )


def partition(number: int, partition_id: int, *replicas: int, isr: Iterable[int] | None = None,
              leader: int | None = None) -> PartitionRecord:  # fmt: skip
    in_sync = list(replicas if isr is None else isr)
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id(number),
        replicas=list(replicas),
        isr=in_sync,
        removing_replicas=[],
        adding_replicas=[],
        leader=in_sync[0] if leader is None else leader,
        leader_epoch=0,
        partition_epoch=0,
        directories=[log_dir(each) for each in replicas],
    )


def topic(name: str, number: int, *replicas: tuple[int, ...]) -> list[MetadataRecord]:
    records: list[MetadataRecord] = [TopicRecord(name=name, topic_id=topic_id(number))]
    records += [partition(number, each, *brokers) for each, brokers in enumerate(replicas)]
    return records


def replayed(
    *records: MetadataRecord, image: MetadataImage = EMPTY, provenance: Provenance = HERE
) -> MetadataImage:
    delta = MetadataDelta(image)
    for record in records:
        delta.replay(record)
    return delta.after(provenance)


class History:
    """Draws records of every kind, each of which follows from the ones before."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._topics: dict[Uuid, list[int]] = {}
        self._brokers: dict[int, int] = {}
        self._acls: list[Uuid] = []
        self._names = iter(f"topic-{number}" for number in range(10_000))

    def draw(self, count: int) -> Iterator[MetadataRecord]:
        yield from levels()
        kinds = [
            self._topic, self._topic, self._remove_topic, self._change, self._change, self._broker,
            self._change_broker, self._unregister, self._config, self._quota, self._security,
            self._remove_security, self._controller, self._clear_elr, self._producer_ids,
        ]  # fmt: skip
        for _ in range(count):
            yield from self._random.choice(kinds)()

    def _topic(self) -> Iterator[MetadataRecord]:
        made = random_uuid(self._random)
        count = self._random.randint(1, 4)
        self._topics[made] = list(range(count))
        yield TopicRecord(name=next(self._names), topic_id=made)
        for partition_id in range(count):
            replicas = self._random.sample(range(9), 3)
            yield PartitionRecord(
                partition_id=partition_id,
                topic_id=made,
                replicas=replicas,
                isr=replicas[:2],
                removing_replicas=[],
                adding_replicas=self._random.choice([[], replicas[2:]]),
                leader=replicas[0],
                leader_epoch=self._random.randint(0, 5),
                partition_epoch=0,
                directories=[log_dir(each) for each in replicas],
                eligible_leader_replicas=self._random.choice([None, replicas[2:]]),
            )

    def _remove_topic(self) -> Iterator[MetadataRecord]:
        if self._topics:
            gone = self._random.choice(list(self._topics))
            del self._topics[gone]
            yield RemoveTopicRecord(topic_id=gone)

    def _change(self) -> Iterator[MetadataRecord]:
        if self._topics:
            changed = self._random.choice(list(self._topics))
            yield PartitionChangeRecord(
                partition_id=self._random.choice(self._topics[changed]),
                topic_id=changed,
                isr=self._random.choice([None, [1], [2, 3]]),
                leader=self._random.choice([-2, -1, 4]),
                leader_recovery_state=self._random.choice([-1, 0, 1]),
                last_known_elr=self._random.choice([None, [], [7]]),
            )

    def _broker(self) -> Iterator[MetadataRecord]:
        broker_id = self._random.randrange(9)
        epoch = self._random.randrange(10_000)
        self._brokers[broker_id] = epoch
        yield register(broker_id, epoch=epoch, rack=self._random.choice([None, "a", "b"]))

    def _change_broker(self) -> Iterator[MetadataRecord]:
        if self._brokers:
            broker_id = self._random.choice(list(self._brokers))
            yield BrokerRegistrationChangeRecord(
                broker_id=broker_id,
                broker_epoch=self._brokers[broker_id],
                fenced=self._random.choice([-1, 0, 1]),
                in_controlled_shutdown=self._random.choice([0, 1]),
                cordoned_log_dirs=self._random.choice([None, [], [log_dir(broker_id)]]),
            )

    def _unregister(self) -> Iterator[MetadataRecord]:
        if self._brokers:
            broker_id = self._random.choice(list(self._brokers))
            epoch = self._brokers.pop(broker_id)
            yield UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch)

    def _config(self) -> Iterator[MetadataRecord]:
        yield ConfigRecord(
            resource_type=self._random.choice([2, 4, 16, 32]),
            resource_name=self._random.choice(["", "1", "topic-1"]),
            name=self._random.choice(["retention.ms", "min.insync.replicas"]),
            value=self._random.choice([None, "1", "2"]),
        )

    def _quota(self) -> Iterator[MetadataRecord]:
        names = [None, "alice"]
        yield ClientQuotaRecord(
            entity=[
                EntityData(entity_type="user", entity_name=self._random.choice(names)),
                EntityData(entity_type="client-id", entity_name=self._random.choice(names)),
            ],
            key=self._random.choice(["producer_byte_rate", "consumer_byte_rate"]),
            value=float(self._random.randrange(100)),
            remove=self._random.random() < 0.3,
        )

    def _security(self) -> Iterator[MetadataRecord]:
        made = random_uuid(self._random)
        self._acls.append(made)
        yield AccessControlEntryRecord(
            id=made, resource_type=2, resource_name="*", pattern_type=3, principal="User:alice",
            host="*", operation=3, permission_type=self._random.choice([2, 3]),
        )  # fmt: skip
        yield UserScramCredentialRecord(
            name="alice", mechanism=self._random.choice([1, 2]), salt=self._random.randbytes(8),
            stored_key=b"s", server_key=b"k", iterations=4096,
        )  # fmt: skip
        yield DelegationTokenRecord(
            owner="User:alice", requester="User:bob", renewers=["User:eve"], issue_timestamp=1,
            max_timestamp=9, expiration_timestamp=self._random.randrange(9),
            token_id=self._random.choice(["one", "two"]),
        )  # fmt: skip

    def _remove_security(self) -> Iterator[MetadataRecord]:
        if self._acls:
            yield RemoveAccessControlEntryRecord(id=self._acls.pop())
        yield RemoveUserScramCredentialRecord(name="alice", mechanism=1)
        yield RemoveDelegationTokenRecord(token_id="two")

    def _controller(self) -> Iterator[MetadataRecord]:
        yield RegisterControllerRecord(
            controller_id=self._random.randrange(3), incarnation_id=random_uuid(self._random),
            zk_migration_ready=False, end_points=[], features=[],
        )  # fmt: skip

    def _clear_elr(self) -> Iterator[MetadataRecord]:
        yield ClearElrRecord(topic_name="")

    def _producer_ids(self) -> Iterator[MetadataRecord]:
        yield ProducerIdsRecord(
            broker_id=1, broker_epoch=1, next_producer_id=self._random.randrange(10_000)
        )
