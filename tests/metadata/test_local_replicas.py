from snakka.metadata.delta import MetadataDelta
from snakka.metadata.local_replicas import LocalReplicaChanges, local_changes
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import PartitionChangeRecord, RemoveTopicRecord
from tests.metadata.making import replayed, topic, topic_id

IMAGE = replayed(*topic("orders", 1, (1, 2), (2, 1), (2, 3)))


def changes(*records: MetadataRecord, broker_id: int = 1) -> LocalReplicaChanges:
    delta = MetadataDelta(IMAGE)
    for record in records:
        delta.replay(record)
    return local_changes(delta, broker_id)


def change(partition_id: int, **fields: object) -> PartitionChangeRecord:
    return PartitionChangeRecord(partition_id=partition_id, topic_id=topic_id(1), **fields)  # type: ignore[arg-type]


def ids(where: object) -> list[int]:
    return [each.partition_id for each in where]  # type: ignore[attr-defined]


def test_new_topics_are_led_and_followed() -> None:
    told = changes(*topic("new", 2, (1, 2), (2, 1), (3, 2)))
    assert ids(told.elected) == ids(told.leaders) == [0]
    assert ids(told.following) == ids(told.followers) == [1]


def test_an_isr_change_starts_nothing_anew() -> None:
    told = changes(change(0, isr=[1]))
    assert ids(told.leaders) == [0]
    assert not told.elected


def test_a_new_leader_starts_leaders_and_followers_anew() -> None:
    assert ids(changes(change(0, leader=2)).following) == [0]
    assert ids(changes(change(1, leader=1)).elected) == [1]


def test_a_broker_that_is_added_follows_and_one_that_is_removed_lets_go() -> None:
    assert ids(changes(change(2, replicas=[2, 1])).following) == [2]
    assert ids(changes(change(0, replicas=[2], leader=2)).deleted) == [0]
    assert ids(changes(RemoveTopicRecord(topic_id=topic_id(1))).deleted) == [0, 1]


def test_what_others_do_is_none_of_its_business() -> None:
    assert changes(change(2, isr=[2])) == LocalReplicaChanges()
