"""The active controller: what it does of itself, how it writes, and what it forgets."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import cast

import pytest

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.elect_leaders import balance_leaders, elect_uncleanly
from snakka.controller.mutation_quota import MutationQuotas
from snakka.controller.view import Settings
from snakka.metadata.image import MetadataImage
from snakka.node import active_controller
from snakka.node.active_controller import ActiveController, Periodic
from snakka.node.quorum_driver import QuorumDriver
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.frames import METADATA_RECORDS, read_typed
from snakka.protocol.internal.metadata import ConfigRecord, PartitionChangeRecord
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from snakka.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from snakka.quorum.replica import NotLeaderError, RecordsTooLargeError
from tests.controller.making import CLUSTER, NOW_MS, Cluster, Rules, brokers, topic, topic_id
from tests.controller.partitions import UNCLEAN, alter, down

BATCH_BYTES_MAX = 8 * 1024 * 1024


class Quorum:
    """Commits at once, or when told to."""

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        self.batches: list[list[bytes]] = []
        self.is_committing = True
        self.waiting: list[asyncio.Future[None]] = []

    def submit(self, records: Sequence[bytes]) -> asyncio.Future[None]:
        if sum(map(len, records)) > BATCH_BYTES_MAX:
            raise RecordsTooLargeError
        self.batches.append(list(records))
        self.end_offset += len(records)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.is_committing:
            done.set_result(None)
        else:
            self.waiting.append(done)
        return done

    @property
    def records(self) -> list[object]:
        return [read_typed(METADATA_RECORDS, each) for batch in self.batches for each in batch]


def leading(image: MetadataImage, *periodic: Periodic) -> tuple[ActiveController, Quorum]:
    quorum = Quorum(image.provenance.offset + 1)
    controller = ActiveController(
        Settings(CLUSTER, node_id=1),
        Rules(),
        lambda: image,
        session_timeout_ms=1_000_000,
        now_ms=lambda: NOW_MS,
        rng=Random(1),
        mutation_quotas=MutationQuotas(10.0),
        first_records=[],
        periodic=periodic,
    )
    controller.quorum = cast(QuorumDriver, quorum)
    controller.on_leadership(1)
    return controller, quorum


async def until_written(quorum: Quorum, count: int) -> None:
    async with asyncio.timeout(5):
        while len(quorum.records) < count:
            await asyncio.sleep(0.001)


def test_preferred_leaders_lead_again_after_a_while() -> None:
    cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2), (2, 1)))
    cluster.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id(1), leader=2)])

    async def scenario() -> None:
        controller, quorum = leading(cluster.view.image, Periodic(1, balance_leaders))
        await until_written(quorum, 1)
        controller.on_leadership(None)
        (change,) = quorum.records
        assert isinstance(change, PartitionChangeRecord)
        assert (change.partition_id, change.leader) == (0, 1)

    asyncio.run(scenario())


def test_leaderless_partitions_get_one_where_their_topic_allows_it() -> None:
    cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
    alter(cluster, [(1, 100)])
    down(cluster, 1)
    cluster.apply([UNCLEAN])

    async def scenario() -> None:
        controller, quorum = leading(cluster.view.image, Periodic(1, elect_uncleanly))
        await until_written(quorum, 1)
        controller.on_leadership(None)
        (change,) = quorum.records
        assert isinstance(change, PartitionChangeRecord)
        assert change.leader == 2

    asyncio.run(scenario())


def large(count: int, *, is_atomic: bool) -> Decision[bool]:
    records = [
        ConfigRecord(resource_type=2, resource_name="t", name=f"n{index}", value="v" * 1000)
        for index in range(count)
    ]
    return Decision(False, records, is_atomic=is_atomic)


def test_records_that_need_not_come_together_come_in_batches() -> None:
    async def scenario() -> None:
        decisions = [large(10_000, is_atomic=False), Decision(False)]
        image = Cluster().view.image
        controller, quorum = leading(image, Periodic(1, lambda _: decisions.pop(0)))
        await until_written(quorum, 10_000)
        controller.on_leadership(None)
        assert len(quorum.batches) > 8
        assert all(sum(map(len, each)) < 1_100_000 for each in quorum.batches)

    asyncio.run(scenario())


def test_what_has_to_come_together_and_is_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = {UnregisterBrokerRequest: lambda *_: large(10_000, is_atomic=True)}
    monkeypatch.setattr(active_controller, "COMMANDS", commands)

    async def scenario() -> None:
        controller, quorum = leading(Cluster().view.image)
        with pytest.raises(RefusedError) as refused:
            await controller.ask(UnregisterBrokerRequest(broker_id=1), 0, UnregisterBrokerResponse)
        assert refused.value.code is ErrorCode.POLICY_VIOLATION
        assert not quorum.batches
        controller.on_leadership(None)

    asyncio.run(scenario())


def test_who_waits_when_leadership_is_lost_is_told_and_later_askers_do_not_hear_of_it() -> None:
    image = Cluster(*brokers(1)).view.image
    reading = ListPartitionReassignmentsRequest(timeout_ms=1, topics=None)

    async def scenario() -> None:
        controller, quorum = leading(image)
        quorum.is_committing = False
        asking = asyncio.ensure_future(
            controller.ask(UnregisterBrokerRequest(broker_id=1), 0, UnregisterBrokerResponse)
        )
        await asyncio.sleep(0)
        quorum.waiting[0].set_exception(NotLeaderError())
        controller.on_leadership(None)
        with pytest.raises(RefusedError) as refused:
            await asking
        assert refused.value.code is ErrorCode.NOT_CONTROLLER
        with pytest.raises(RefusedError):
            await controller.ask(reading, 0, ListPartitionReassignmentsResponse)
        controller.on_leadership(3)
        answer = await controller.ask(reading, 0, ListPartitionReassignmentsResponse)
        assert answer.error_code == ErrorCode.NONE
        controller.on_leadership(None)

    asyncio.run(scenario())
