"""Registration, heartbeats, fencing, controlled shutdown, unregistration."""

from collections.abc import Mapping

import pytest

from snakka.controller.broker_fencing import fence_stale_broker, unfenced_ids, unregister_broker
from snakka.controller.broker_heartbeat import heartbeat
from snakka.controller.broker_registration import register_broker
from snakka.controller.controller_registration import register_controller
from snakka.controller.sessions import BrokerSessions
from snakka.metadata.versions import default_levels
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import ConfigRecord
from snakka.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from snakka.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from snakka.protocol.messages.controller_registration import ControllerRegistrationRequest
from snakka.protocol.messages.unregister_broker import UnregisterBrokerRequest
from snakka.protocol.types import Uuid
from tests.controller.making import CLUSTER, NOW_MS, TIMEOUT_MS, Cluster, brokers, topic
from tests.metadata.making import log_dir, register, uuid

INCARNATION = uuid(77)


def request(
    broker_id: int = 1,
    *,
    incarnation: Uuid = INCARNATION,
    cluster: str = CLUSTER,
    log_dirs: list[Uuid] | None = None,
    features: Mapping[str, int] | None = None,
    previous_epoch: int = -1,
) -> BrokerRegistrationRequest:
    supported = default_levels() if features is None else features
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster,
        incarnation_id=incarnation,
        listeners=[Listener(name="PLAINTEXT", host="here", port=9092, security_protocol=0)],
        features=[
            Feature(name=name, min_supported_version=0, max_supported_version=level)
            for name, level in supported.items()
        ],
        rack="a",
        log_dirs=[log_dir(broker_id)] if log_dirs is None else log_dirs,
        previous_broker_epoch=previous_epoch,
    )


def enter(
    cluster: Cluster, asked: BrokerRegistrationRequest, now_ms: int = NOW_MS
) -> BrokerRegistrationResponse:
    return cluster.decide(register_broker(cluster.view, cluster.sessions, asked, now_ms))


def beat(
    cluster: Cluster,
    broker_id: int = 1,
    *,
    epoch: int | None = None,
    offset: int = 1_000_000,
    fence: bool = False,
    shut_down: bool = False,
    now_ms: int = NOW_MS,
    offline: list[Uuid] | None = None,
    cordoned: list[Uuid] | None = None,
) -> BrokerHeartbeatResponse:
    if epoch is None:
        epoch = cluster.view.image.brokers[broker_id].epoch
    asked = BrokerHeartbeatRequest(
        broker_id=broker_id,
        broker_epoch=epoch,
        current_metadata_offset=offset,
        want_fence=fence,
        want_shut_down=shut_down,
        offline_log_dirs=offline or [],
        cordoned_log_dirs=cordoned,
    )
    response = cluster.decide(heartbeat(cluster.view, cluster.sessions, asked, now_ms))
    cluster.check()
    return response


class TestRegistration:
    def test_gives_a_new_process_an_epoch_and_fences_it(self) -> None:
        cluster = Cluster()
        offset = cluster.view.next_offset
        response = enter(cluster, request())
        broker = cluster.view.image.brokers[1]
        assert (response.error_code, response.broker_epoch) == (ErrorCode.NONE, offset)
        assert (broker.epoch, broker.fenced, broker.rack) == (offset, True, "a")
        assert broker.log_dirs == (log_dir(1),)

    def test_amends_that_of_the_same_process(self) -> None:
        cluster = Cluster()
        epoch = enter(cluster, request()).broker_epoch
        beat(cluster)
        assert enter(cluster, request()).broker_epoch == epoch
        assert not cluster.view.image.brokers[1].fenced

    def test_refuses_a_second_process_while_the_first_is_heard_of(self) -> None:
        cluster = Cluster()
        enter(cluster, request())
        beat(cluster)
        refused = enter(cluster, request(incarnation=uuid(78)), NOW_MS + TIMEOUT_MS)
        assert refused.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
        taken = enter(cluster, request(incarnation=uuid(78)), NOW_MS + TIMEOUT_MS + 1)
        assert taken.error_code == ErrorCode.NONE

    def test_takes_a_new_process_at_once_when_a_new_controller_heard_of_no_other(self) -> None:
        cluster = Cluster(register(1))
        assert enter(cluster, request(incarnation=uuid(78))).error_code == ErrorCode.NONE
        assert cluster.view.image.brokers[1].fenced

    def test_takes_the_process_before_out_of_its_isrs(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        enter(cluster, request(incarnation=uuid(78)))
        partition = cluster.partition(1)
        assert (partition.leader, partition.isr, partition.elr) == (2, (2,), ())

    @pytest.mark.parametrize(("previous_epoch", "elr"), [(100, (1,)), (99, ())])
    def test_keeps_a_process_that_went_cleanly_eligible(
        self, previous_epoch: int, elr: tuple[int, ...]
    ) -> None:
        # pitfall 25
        cluster = Cluster(
            *brokers(1, 2),
            *topic("orders", 1, (1, 2)),
            ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="2"),
        )
        enter(cluster, request(incarnation=uuid(78), previous_epoch=previous_epoch))
        assert (cluster.partition(1).isr, cluster.partition(1).elr) == ((2,), elr)

    @pytest.mark.parametrize(
        ("asked", "code"),
        [
            (request(cluster="other"), ErrorCode.INCONSISTENT_CLUSTER_ID),
            (request(log_dirs=[]), ErrorCode.INVALID_REGISTRATION),
            (request(log_dirs=[Uuid(bytes(15) + b"\x02")]), ErrorCode.INVALID_REGISTRATION),
            (request(log_dirs=[uuid(5), uuid(5)]), ErrorCode.INVALID_REGISTRATION),
            (request(log_dirs=[log_dir(2)]), ErrorCode.INVALID_REGISTRATION),
            (request(features={}), ErrorCode.INVALID_REGISTRATION),
            (request(features={"metadata.version": 29}), ErrorCode.UNSUPPORTED_VERSION),
            (request(features={"metadata.version": 30}), ErrorCode.UNSUPPORTED_VERSION),
        ],
    )
    def test_refuses(self, asked: BrokerRegistrationRequest, code: ErrorCode) -> None:
        cluster = Cluster(register(2))
        before = cluster.view.image.brokers
        refused = enter(cluster, asked)
        assert (refused.error_code, refused.broker_epoch) == (code, -1)
        assert cluster.view.image.brokers is before

    def test_of_a_controller_is_recorded(self) -> None:
        cluster = Cluster()
        asked = ControllerRegistrationRequest(
            controller_id=3, incarnation_id=uuid(1), zk_migration_ready=False, listeners=[],
            features=[],
        )  # fmt: skip
        assert cluster.decide(register_controller(cluster.view, asked)).error_code == 0
        assert cluster.view.image.controllers[3].incarnation_id == uuid(1)


class TestHeartbeat:
    def test_unfences_a_broker_that_has_caught_up_with_its_registration(self) -> None:
        cluster = Cluster()
        epoch = enter(cluster, request()).broker_epoch
        behind = beat(cluster, offset=epoch - 1)
        assert (behind.is_caught_up, behind.is_fenced) == (False, True)
        there = beat(cluster, offset=epoch)
        assert (there.is_caught_up, there.is_fenced) == (True, False)
        assert cluster.view.image.is_active(1)

    def test_leaves_a_broker_fenced_that_wants_to_be(self) -> None:
        cluster = Cluster()
        enter(cluster, request())
        assert beat(cluster, fence=True).is_fenced
        beat(cluster)
        assert beat(cluster, fence=True).is_fenced
        assert not cluster.view.image.is_active(1)

    @pytest.mark.parametrize(("broker_id", "epoch"), [(1, 99), (1, 101), (9, 100)])
    def test_of_a_stale_epoch_is_refused(self, broker_id: int, epoch: int) -> None:
        cluster = Cluster(register(1, epoch=100))
        response = beat(cluster, broker_id, epoch=epoch)
        assert response.error_code == ErrorCode.STALE_BROKER_EPOCH

    def test_gives_partitions_without_a_leader_back_to_who_returns(self) -> None:
        cluster = Cluster(register(1), *topic("orders", 1, (1,)))
        beat(cluster, fence=True)
        assert (cluster.partition(1).leader, cluster.partition(1).isr) == (-1, ())
        assert cluster.partition(1).elr == (1,)
        beat(cluster)
        assert (cluster.partition(1).leader, cluster.partition(1).isr) == (1, (1,))

    def test_moves_leadership_off_failed_directories(self) -> None:
        first = register(1)
        first.log_dirs.append(uuid(50))
        cluster = Cluster(first, register(2), *topic("orders", 1, (1, 2), (2, 1)))
        beat(cluster, offline=[log_dir(1), uuid(999)])
        assert cluster.view.image.brokers[1].log_dirs == (uuid(50),)
        assert [cluster.partition(1, each).isr for each in (0, 1)] == [(2,), (2,)]
        assert cluster.partition(1).leader == 2

    def test_cordons_directories_once(self) -> None:
        cluster = Cluster(register(1))
        beat(cluster, cordoned=[log_dir(1)])
        assert cluster.view.image.brokers[1].cordoned_log_dirs == (log_dir(1),)
        offset = cluster.view.next_offset
        beat(cluster, cordoned=[log_dir(1)])
        assert cluster.view.next_offset == offset


class TestControlledShutdown:
    def test_waits_until_others_lead_and_all_have_seen_it(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        beat(cluster, 2, offset=10)
        asked = beat(cluster, 1, shut_down=True)
        assert (asked.should_shut_down, asked.is_fenced) == (False, False)
        assert cluster.partition(1).leader == 2
        assert not cluster.view.image.is_active(1)
        assert not beat(cluster, 1, shut_down=True).should_shut_down, "broker 2 is behind"
        beat(cluster, 2)
        assert beat(cluster, 1, shut_down=True).should_shut_down
        assert cluster.view.image.brokers[1].fenced

    def test_waits_for_partitions_that_nobody_else_can_lead(self) -> None:
        config = ConfigRecord(
            resource_type=4, resource_name="", name="min.insync.replicas", value="1"
        )
        cluster = Cluster(register(1), config, *topic("orders", 1, (1,)))
        assert not beat(cluster, shut_down=True).should_shut_down
        assert beat(cluster, shut_down=True).should_shut_down

    def test_is_immediate_for_who_leads_nothing_or_is_fenced(self) -> None:
        cluster = Cluster(*brokers(1, 2), register(3, fenced=True), *topic("orders", 1, (2, 1)))
        assert beat(cluster, 1, shut_down=True).should_shut_down
        assert beat(cluster, 3, shut_down=True).should_shut_down
        assert cluster.partition(1).isr == (2,)


class TestSessions:
    def test_end_one_by_one_after_the_timeout(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3), *topic("orders", 1, (1, 2, 3)))
        beat(cluster, 3, now_ms=NOW_MS + 1)
        view, sessions = cluster.view, cluster.sessions
        assert sessions.next_deadline_ms(unfenced_ids(view)) == NOW_MS + TIMEOUT_MS + 1
        assert fence_stale_broker(view, sessions, NOW_MS + TIMEOUT_MS).response is None
        late_ms = NOW_MS + TIMEOUT_MS + 1
        assert cluster.decide(fence_stale_broker(view, sessions, late_ms)) == 1
        assert cluster.partition(1).leader == 2
        assert cluster.decide(fence_stale_broker(view, sessions, late_ms)) == 2
        assert cluster.partition(1).leader == 3
        assert cluster.decide(fence_stale_broker(view, sessions, late_ms)) is None
        cluster.check()

    def test_of_a_new_controller_start_anew(self) -> None:
        sessions = BrokerSessions(TIMEOUT_MS, Cluster(register(1)).view.image.brokers.values(), 50)
        assert sessions.expired([1], 50 + TIMEOUT_MS) == []
        assert sessions.expired([1], 51 + TIMEOUT_MS) == [1]


def test_unregistering_takes_a_broker_out_of_everything() -> None:
    cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
    asked = UnregisterBrokerRequest(broker_id=1)
    assert cluster.decide(unregister_broker(cluster.view, cluster.sessions, asked)).error_code == 0
    assert 1 not in cluster.view.image.brokers
    assert cluster.partition(1).isr == (2,)
    again = unregister_broker(cluster.view, cluster.sessions, asked).response
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert again.error_message == "Broker ID 1 is not currently registered"
