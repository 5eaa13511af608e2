"""From a frame to the answer's frame: header, version, handler.

A request for a version that is not served ends the connection, as Kafka does, but for ApiVersions:
its client is told which versions there are (KIP-511).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from snakka.apis.api_versions import refuse_version
from snakka.apis.context import Context, NodeServices, Peer, RequestContext, Services
from snakka.apis.registry import apis_of
from snakka.controller.decision import RefusedError
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.codec import Chunk, decoder
from snakka.protocol.errors import UnsupportedVersionError
from snakka.protocol.frames import read_request_header, write_response
from snakka.protocol.refusals import refusal

# The modules of the APIs; importing one registers what it holds.
SERVED: Final = (
    "add_offsets_to_txn",
    "add_partitions_to_txn",
    "add_raft_voter",
    "allocate_producer_ids",
    "alter_client_quotas",
    "alter_configs",
    "alter_partition",
    "alter_partition_reassignments",
    "alter_replica_log_dirs",
    "alter_user_scram_credentials",
    "api_versions",
    "assign_replicas_to_dirs",
    "begin_quorum_epoch",
    "broker_heartbeat",
    "broker_registration",
    "consumer_group_describe",
    "consumer_group_heartbeat",
    "controller_registration",
    "create_acls",
    "create_delegation_token",
    "create_partitions",
    "create_topics",
    "delete_acls",
    "delete_groups",
    "delete_records",
    "delete_share_group_state",
    "delete_topics",
    "describe_acls",
    "describe_client_quotas",
    "describe_cluster",
    "describe_configs",
    "describe_controllers",
    "describe_delegation_token",
    "describe_groups",
    "describe_log_dirs",
    "describe_producers",
    "describe_quorum",
    "describe_topic_partitions",
    "describe_transactions",
    "describe_user_scram_credentials",
    "elect_leaders",
    "end_quorum_epoch",
    "end_txn",
    "envelope",
    "expire_delegation_token",
    "fetch",
    "fetch_metadata",
    "fetch_snapshot",
    "find_coordinator",
    "heartbeat",
    "incremental_alter_configs",
    "init_producer_id",
    "initialize_share_group_state",
    "join_group",
    "leave_group",
    "list_config_resources",
    "list_groups",
    "list_offsets",
    "list_partition_reassignments",
    "list_transactions",
    "metadata",
    "offset_commit",
    "offset_delete",
    "offset_fetch",
    "offset_for_leader_epoch",
    "produce",
    "read_share_group_state",
    "read_share_group_state_summary",
    "remove_raft_voter",
    "renew_delegation_token",
    "sasl_authenticate",
    "sasl_handshake",
    "sync_group",
    "txn_offset_commit",
    "unregister_broker",
    "update_features",
    "update_raft_voter",
    "vote",
    "write_share_group_state",
    "write_txn_markers",
)
for _name in SERVED:
    import_module(f"snakka.apis.{_name}")


class Dispatcher:
    """Serves the frames of one kind of listener."""

    def __init__(self, services: NodeServices) -> None:
        self._services = services
        self._apis = apis_of(services.listeners)
        is_broker = isinstance(services, Services)
        self._context: Callable[..., Context[Any]] = RequestContext if is_broker else Context

    async def serve(self, frame: memoryview, peer: Peer) -> list[Chunk] | None:
        header, position = read_request_header(frame)
        key, version = header.request_api_key, header.request_api_version
        api = self._apis.get(key)
        if api is None:
            raise UnsupportedVersionError(f"API {ApiKey(key).name} is not served here")
        if version not in api.versions:
            if api.key is not ApiKey.API_VERSIONS:
                first, last = api.versions
                raise UnsupportedVersionError(
                    f"{api.key.name} is served in versions {first} to {last}, not {version}"
                )
            answer = refuse_version(self._services.listeners)
            return write_response(answer, 0, correlation_id=header.correlation_id)
        # Like Kafka we pass over what follows a request: librdkafka sends three bytes too many
        # with some versions of Metadata.
        request, _ = decoder(request_type(api.key), version)(frame, position)
        try:
            response = await api.handler(request, self._context(header, peer, self._services))
        except RefusedError as refused:
            response = refusal(request, version, refused.code)
        if response is None:
            return None
        return write_response(response, version, correlation_id=header.correlation_id)
