"""The requests that the active controller decides on, and what each decision looks at.

Not here: the decisions (controller/), carrying them out (active_controller.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from snakka.controller.alter_configs import incrementally_alter_configs, replace_configs
from snakka.controller.alter_partition import alter_partition
from snakka.controller.assign_directories import assign_replicas_to_dirs
from snakka.controller.broker_fencing import unregister_broker
from snakka.controller.broker_heartbeat import heartbeat
from snakka.controller.broker_registration import register_broker
from snakka.controller.client_quotas import alter_client_quotas
from snakka.controller.controller_registration import register_controller
from snakka.controller.create_partitions import create_partitions
from snakka.controller.create_topics import create_topics
from snakka.controller.decision import Decision
from snakka.controller.delete_topics import delete_topics
from snakka.controller.elect_leaders import elect_leaders
from snakka.controller.features import update_features
from snakka.controller.limits import Charge
from snakka.controller.producer_ids import allocate_producer_ids
from snakka.controller.reassignments import alter_reassignments, list_reassignments
from snakka.controller.scram_credentials import alter_scram_credentials
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import View
from snakka.metadata.versions import KRAFT_VERSION
from snakka.node.quorum_driver import QuorumDriver
from snakka.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from snakka.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from snakka.protocol.messages.alter_configs import AlterConfigsRequest
from snakka.protocol.messages.alter_partition import AlterPartitionRequest
from snakka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from snakka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
)
from snakka.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from snakka.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from snakka.protocol.messages.broker_registration import BrokerRegistrationRequest
from snakka.protocol.messages.controller_registration import ControllerRegistrationRequest
from snakka.protocol.messages.create_partitions import CreatePartitionsRequest
from snakka.protocol.messages.create_topics import CreateTopicsRequest
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest
from snakka.protocol.messages.elect_leaders import ElectLeadersRequest
from snakka.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from snakka.protocol.messages.unregister_broker import UnregisterBrokerRequest
from snakka.protocol.messages.update_features import UpdateFeaturesRequest
from snakka.protocol.schema import Request


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what there is to decide on it besides the view."""

    request: Any
    now_ms: int
    rng: Random
    sessions: BrokerSessions
    quorum: QuorumDriver
    charge: Charge


Decide: TypeAlias = Callable[[View, Asked], Decision[Any]]


def _update_features(view: View, asked: Asked) -> Decision[Any]:
    view.settings = replace(view.settings, quorum_ids=asked.quorum.voter_ids)
    decision = update_features(view, asked.request, asked.quorum)
    for update in asked.request.feature_updates if decision.records else ():
        if update.feature == KRAFT_VERSION:
            asked.quorum.upgrade_kraft_version(update.max_version_level)
    return decision


def _by_view(decide: Callable[[View, Any], Decision[Any]]) -> Decide:
    return lambda view, asked: decide(view, asked.request)


COMMANDS: Final[Mapping[type[Request], Decide]] = MappingProxyType(
    {
        AllocateProducerIdsRequest: _by_view(allocate_producer_ids),
        AlterClientQuotasRequest: _by_view(alter_client_quotas),
        AlterConfigsRequest: _by_view(replace_configs),
        AlterPartitionRequest: _by_view(alter_partition),
        AlterPartitionReassignmentsRequest: _by_view(alter_reassignments),
        AlterUserScramCredentialsRequest: _by_view(alter_scram_credentials),
        AssignReplicasToDirsRequest: _by_view(assign_replicas_to_dirs),
        BrokerHeartbeatRequest: lambda view, asked: heartbeat(
            view, asked.sessions, asked.request, asked.now_ms
        ),
        BrokerRegistrationRequest: lambda view, asked: register_broker(
            view, asked.sessions, asked.request, asked.now_ms
        ),
        ControllerRegistrationRequest: _by_view(register_controller),
        CreatePartitionsRequest: lambda view, asked: create_partitions(
            view, asked.request, asked.rng, asked.charge
        ),
        CreateTopicsRequest: lambda view, asked: create_topics(
            view, asked.request, asked.rng, asked.charge
        ),
        DeleteTopicsRequest: lambda view, asked: delete_topics(view, asked.request, asked.charge),
        ElectLeadersRequest: _by_view(elect_leaders),
        IncrementalAlterConfigsRequest: _by_view(incrementally_alter_configs),
        ListPartitionReassignmentsRequest: lambda view, asked: Decision(
            list_reassignments(view, asked.request)
        ),
        UnregisterBrokerRequest: lambda view, asked: unregister_broker(
            view, asked.sessions, asked.request
        ),
        UpdateFeaturesRequest: _update_features,
    }
)
