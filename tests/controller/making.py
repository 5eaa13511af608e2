"""A cluster to decide about: brokers, topics, rules, and records applied as the driver would."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, TypeVar

from snakka.controller.decision import Decision
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import Settings, View
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, Provenance
from snakka.metadata.keys import ConfigResource
from snakka.metadata.partition import Partition
from snakka.metadata.snapshot import image_of, snapshot_records
from snakka.metadata.versions import record_version
from snakka.protocol.internal.frames import METADATA_RECORDS, read_typed, write_typed
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.messages.create_topics import CreatableTopicConfigs
from tests.metadata.making import levels, register, topic, topic_id

R = TypeVar("R")

CLUSTER: Final = "c1uster"
TIMEOUT_MS: Final = 9_000
NOW_MS: Final = 1_000_000


class Rules:
    """A few keys: the least that decisions are about."""

    defaults: Mapping[str, str] = {
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "false",
        "cleanup.policy": "delete",
        "retention.ms": "604800000",
    }
    lists = ("cleanup.policy",)

    def validate(
        self, resource: ConfigResource, configs: Mapping[str, str], before: Mapping[str, str]
    ) -> None:
        for name, value in configs.items():
            if name not in self.defaults:
                raise ValueError(f"Unknown topic config name: {name}")
            if name == "retention.ms" and not value.lstrip("-").isdigit():
                raise ValueError(f"Invalid value {value} for configuration {name}")

    def is_list(self, resource_type: int, name: str) -> bool:
        return name in self.lists

    def default(self, resource_type: int, name: str) -> str | None:
        return self.defaults.get(name)

    def describe_topic(
        self, configs: Mapping[str, str], inherited: Sequence[Mapping[str, str]]
    ) -> list[CreatableTopicConfigs]:
        return [
            CreatableTopicConfigs(name=name, value=value, read_only=False, is_sensitive=False)
            for name, value in configs.items()
        ]


class Cluster:
    """Applies decisions to a view, through the bytes of the log."""

    def __init__(self, *records: MetadataRecord, quorum_ids: Sequence[int] = (1,)) -> None:
        settings = Settings(CLUSTER, node_id=1, quorum_ids=frozenset(quorum_ids))
        self.view = View(EMPTY, settings, Rules())
        self.apply(levels())  # they say how the others are written
        self.apply(records)
        self.sessions = BrokerSessions(TIMEOUT_MS, self.view.image.brokers.values(), NOW_MS)
        self.random = Random(7)

    def apply(self, records: Sequence[MetadataRecord]) -> None:
        delta = MetadataDelta(self.view.image)
        for record in records:
            version = record_version(record, self.view.image.metadata_version)
            delta.replay(read_typed(METADATA_RECORDS, write_typed(record, version)))
        end = self.view.next_offset + len(records) - 1
        self.view.advance(delta, delta.after(Provenance(end, 1, 0)))

    def decide(self, decision: Decision[R]) -> R:
        self.apply(decision.records)
        return decision.response

    def partition(self, number: int, partition_id: int = 0) -> Partition:
        return self.view.image.topics.by_id[topic_id(number)].partitions[partition_id]

    def check(self) -> None:
        """What is kept beside the image is what a new leader would build from it."""
        fresh = View(self.view.image, self.view.settings, self.view.rules)
        for kept, built in (
            (self.view.partitions.leaderless, fresh.partitions.leaderless),
            (self.view.partitions.imbalanced, fresh.partitions.imbalanced),
            (self.view.partitions.reassigning, fresh.partitions.reassigning),
        ):
            assert set(kept) == set(built)
        for broker_id in self.view.image.brokers:
            kept_keys = set(self.view.partitions.hosted(broker_id))
            assert kept_keys == set(fresh.partitions.hosted(broker_id))
        image = self.view.image
        assert image_of(snapshot_records(image), image.provenance) == image


def brokers(*ids: int, racks: Mapping[int, str] | None = None) -> list[MetadataRecord]:
    return [register(each, rack=(racks or {}).get(each)) for each in ids]


__all__ = ["CLUSTER", "NOW_MS", "TIMEOUT_MS", "Cluster", "Rules", "brokers", "topic", "topic_id"]
