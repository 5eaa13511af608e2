"""Who leads, who is in sync and who is eligible: our controller and Kafka's write the same record.

Partitions of all kinds, with the changes that the controller makes of them: brokers that go, come
back or lose their disks, leaders that alter the ISR, elections, reassignments.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pytest

from snakka.controller.partition_change import Election, PartitionChange, Rules
from snakka.metadata.partition import NO_LEADER, NO_RECOVERY_CHANGE, LeaderRecoveryState, Partition
from snakka.metadata.versions import MetadataVersion
from snakka.protocol.internal.metadata import PartitionChangeRecord
from snakka.protocol.types import Uuid
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

BROKERS: Final = range(1, 7)
ROUNDS: Final = 2_000
TOPIC: Final = Uuid((7).to_bytes(8, "big") * 2)
RECOVERED: Final = LeaderRecoveryState.RECOVERED
VERSIONS: Final = (7, 12, 17, 23, 30)


def directory(number: int) -> Uuid:
    return Uuid((1000).to_bytes(8, "big") + number.to_bytes(8, "big"))


def number_of(directory_id: Uuid) -> int:
    return int.from_bytes(directory_id[8:], "big")


@dataclass(frozen=True)
class Case:
    """A partition, and what it is to become."""

    partition: Partition
    alive: frozenset[int]
    version: int
    min_isr: int
    has_elr: bool
    election: str
    targets: dict[str, Any]

    def ours(self) -> dict[str, object] | None:
        rules = Rules(
            can_lead=self.alive.__contains__,
            default_dir=lambda broker_id: directory(100 + broker_id),
            metadata_version=MetadataVersion(self.version),
            min_isr=self.min_isr,
            has_elr=self.has_elr,
        )
        names = {"recovery": "leader_recovery_state"}
        targets = {names.get(name, name): value for name, value in self.targets.items()}
        change = PartitionChange(
            TOPIC, 0, self.partition, rules, Election[self.election], **targets
        )
        record = change.record()
        return None if record is None else shown(record)

    def question(self) -> str:
        partition = self.partition
        return json.dumps(
            {
                "partition": {
                    "replicas": partition.replicas,
                    "isr": partition.isr,
                    "leader": partition.leader,
                    "adding": partition.adding_replicas,
                    "removing": partition.removing_replicas,
                    "recovery": partition.leader_recovery_state,
                    "elr": partition.elr,
                    "last_known_elr": partition.last_known_elr,
                    "directories": [number_of(each) for each in partition.directories],
                },
                "alive": sorted(self.alive),
                "version": self.version,
                "min_isr": self.min_isr,
                "has_elr": self.has_elr,
                "election": self.election,
                **self.targets,
            }
        )


def shown(record: PartitionChangeRecord) -> dict[str, object]:
    directories = record.directories
    return {
        "isr": record.isr,
        "leader": record.leader,
        "replicas": record.replicas,
        "adding": record.adding_replicas,
        "removing": record.removing_replicas,
        "recovery": record.leader_recovery_state,
        "elr": record.eligible_leader_replicas,
        "last_known_elr": record.last_known_elr,
        "directories": None if directories is None else [number_of(each) for each in directories],
    }


def some(rng: Random, values: Sequence[int]) -> tuple[int, ...]:
    """Some of them, in their order."""
    return tuple(each for each in values if rng.random() < 0.6)


def partitions(rng: Random, *, has_elr: bool) -> Partition:
    replicas = tuple(rng.sample(BROKERS, rng.randint(1, 4)))
    isr = some(rng, replicas) or (() if has_elr and rng.random() < 0.5 else replicas[:1])
    out = [each for each in replicas if each not in isr]
    elr = some(rng, out) if has_elr and rng.random() < 0.7 else ()
    leader = rng.choice([*isr, NO_LEADER]) if isr else NO_LEADER
    has_last = has_elr and leader == NO_LEADER and not isr and rng.random() < 0.7
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    if len(replicas) > 1 and rng.random() < 0.3:
        moving = some(rng, replicas[1:])
        cut = rng.randint(0, len(moving))
        adding, removing = moving[:cut], moving[cut:]
    return Partition(
        replicas=replicas,
        isr=isr,
        leader=leader,
        directories=tuple(directory(each) for each in replicas),
        leader_epoch=5,
        partition_epoch=9,
        leader_recovery_state=int(leader != NO_LEADER and rng.random() < 0.1),
        adding_replicas=adding,
        removing_replicas=removing,
        elr=elr,
        last_known_elr=(rng.choice(replicas),) if has_last else (),
    )


def targets(rng: Random, partition: Partition, alive: frozenset[int]) -> dict[str, Any]:
    match rng.randrange(5):
        case 0:  # a broker goes, perhaps with its disk
            gone = rng.choice(partition.replicas)
            isr = [each for each in partition.isr if each != gone]
            return {"isr": isr, **({"unclean_shutdown": [gone]} if rng.random() < 0.4 else {})}
        case 1 if partition.leader != NO_LEADER:  # the leader alters the ISR
            others = some(rng, [each for each in partition.replicas if each in alive])
            return {"isr": list(dict.fromkeys((partition.leader, *others))), "recovery": 0}
        case 2:  # a reassignment
            wanted = rng.sample(BROKERS, rng.randint(1, 4))
            kept = [each for each in partition.replicas if each not in wanted]
            adding = [each for each in wanted if each not in partition.replicas]
            return {"replicas": [*wanted, *kept], "adding": adding, "removing": kept}
        case _:  # an election, or nothing
            return {}


def cases(seed: int) -> Iterator[Case]:
    rng = Random(seed)
    for _ in range(ROUNDS):
        version = rng.choice(VERSIONS)
        has_elr = version >= 23 and rng.random() < 0.6
        partition = partitions(rng, has_elr=has_elr)
        alive = frozenset(some(rng, BROKERS))
        yield Case(
            partition,
            alive,
            version,
            rng.randint(1, len(partition.replicas)),
            has_elr,
            rng.choice([each.name for each in Election]),
            targets(rng, partition, alive),
        )


def without_slips(case: Case, theirs: dict[str, Any] | None) -> dict[str, Any] | None:
    """What Kafka writes, but for three things that it cannot mean."""
    if theirs is None:
        return None
    meant = dict(theirs)
    # A replica that goes away is not eligible to lead.
    before = case.partition
    after = before.elr if meant["elr"] is None else meant["elr"]
    elr = tuple(each for each in after if each in (meant["replicas"] or before.replicas))
    meant["elr"] = None if elr == before.elr else list(elr)
    if meant["last_known_elr"] == [NO_LEADER]:  # nobody has led before there was no leader
        meant["last_known_elr"] = None
    is_unclean = meant["leader"] >= 0 and meant["leader"] not in case.targets.get("isr", BROKERS)
    if is_unclean and meant["recovery"] == RECOVERED:  # who is elected uncleanly has to recover
        meant["recovery"] = NO_RECOVERY_CHANGE
    return None if meant == shown(PartitionChangeRecord(topic_id=TOPIC, partition_id=0)) else meant


@pytest.mark.parametrize("seed", range(5))
def test_the_record_is_kafkas(seed: int) -> None:
    written = 0
    with JavaProgram(JAVA_SOURCES / "PartitionChanges.java") as java:
        for case in cases(seed):
            ours, theirs = case.ours(), json.loads(java.ask(case.question()))
            assert ours == without_slips(case, theirs), case
            written += ours is not None
    assert written > ROUNDS / 2
