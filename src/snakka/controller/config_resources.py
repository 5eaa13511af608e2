"""Which resources may have a configuration: the kinds, what they may be called, and that they are.

Not here: keys and values (the ConfigRules port).
"""

from snakka.controller.decision import RefusedError
from snakka.controller.topic_names import check_name
from snakka.controller.view import View
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.protocol.error_codes import ErrorCode


def check_resource(view: View, resource: ConfigResource) -> None:
    match resource.type:
        case ConfigType.TOPIC:
            _check_topic(view, resource.name)
        case ConfigType.BROKER:
            if resource.name:
                _check_broker(view, resource.name)
        case ConfigType.GROUP:
            _check_named(resource.name, "group")
        case ConfigType.CLIENT_METRICS:
            _check_named(resource.name, "subscription")
        case _:
            raise RefusedError(
                ErrorCode.UNSUPPORTED_VERSION, f"Unknown resource type {resource.type}."
            )


def _check_topic(view: View, name: str) -> None:
    _check_named(name, "topic")
    check_name(name)
    if name not in view.image.topics.ids:
        raise RefusedError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        )


def _check_broker(view: View, name: str) -> None:
    try:
        node_id = int(name)
    except ValueError:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, "Unable to parse broker name as a base 10 number."
        ) from None
    if node_id < 0:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Invalid negative broker ID.")
    if node_id not in view.image.brokers and node_id not in view.settings.quorum_ids:
        raise RefusedError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {node_id} found.")


def _check_named(name: str, kind: str) -> None:
    if not name:
        raise RefusedError(ErrorCode.INVALID_REQUEST, f"Default {kind} resources are not allowed.")
