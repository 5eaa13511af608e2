"""BrokerHeartbeat (key 63): a broker stays in the cluster.

KIP-631, KIP-858 failed log directories (v1), KIP-1066 cordoned log directories (v2).
"""

from snakka.protocol.schema import Listeners, Request, Response, field
from snakka.protocol.types import Int16, Int32, Int64, Uuid


class BrokerHeartbeatRequest(
    Request, key=63, versions="0-2", flexible="0+", listeners=Listeners.CONTROLLER
):
    broker_id: Int32
    broker_epoch: Int64 = -1
    current_metadata_offset: Int64
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: list[Uuid] = field("1+", tag=0)
    cordoned_log_dirs: list[Uuid] | None = field("2+", default=None, tag=1)


class BrokerHeartbeatResponse(Response, key=63, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool
