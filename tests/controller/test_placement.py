from collections import Counter
from random import Random

from snakka.controller.placement import ReplicaPlacer
from snakka.protocol.internal.metadata import BrokerRegistrationChangeRecord
from snakka.protocol.types import Uuid
from tests.controller.making import Cluster, brokers
from tests.metadata.making import log_dir, register


def change(
    broker_id: int,
    *,
    in_controlled_shutdown: int = 0,
    cordoned_log_dirs: list[Uuid] | None = None,
) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=broker_id,
        broker_epoch=100,
        fenced=0,
        in_controlled_shutdown=in_controlled_shutdown,
        cordoned_log_dirs=cordoned_log_dirs,
    )


class TestPlacement:
    def test_spreads_replicas_over_racks_and_leaders_over_brokers(self) -> None:
        racks = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
        cluster = Cluster(*brokers(*racks, racks=racks))
        placer = ReplicaPlacer(cluster.view.image.brokers.values(), Random(3))
        placed = [placer.place(3) for _ in range(600)]
        assert all({racks[each] for each in replicas} == {"a", "b", "c"} for replicas in placed)
        leaders = Counter(replicas[0] for replicas in placed)
        assert max(leaders.values()) - min(leaders.values()) <= 60
        everyone = Counter(each for replicas in placed for each in replicas)
        assert max(everyone.values()) - min(everyone.values()) <= 60

    def test_never_leads_with_a_fenced_broker_and_never_repeats_one(self) -> None:
        cluster = Cluster(*brokers(1, 2), register(3, fenced=True))
        placer = ReplicaPlacer(cluster.view.image.brokers.values(), Random(3))
        for _ in range(50):
            replicas = placer.place(3)
            assert sorted(replicas) == [1, 2, 3]
            assert replicas[0] != 3

    def test_is_the_same_for_the_same_seed(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3, 4))
        placers = [ReplicaPlacer(cluster.view.image.brokers.values(), Random(5)) for _ in "ab"]
        assert [placers[0].place(2) for _ in range(20)] == [placers[1].place(2) for _ in range(20)]

    def test_does_without_brokers_that_are_leaving_or_cordoned(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3, 4))
        cluster.apply([change(4, in_controlled_shutdown=1)])
        cluster.apply([change(3, cordoned_log_dirs=[log_dir(3)])])
        placer = ReplicaPlacer(cluster.view.image.brokers.values(), Random(5))
        assert {tuple(sorted(placer.place(2))) for _ in range(20)} == {(1, 2)}
