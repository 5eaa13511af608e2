"""ControllerRegistration (KIP-919): a controller makes its endpoints and features known."""

from snakka.controller.decision import Decision
from snakka.controller.view import View
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from snakka.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)


def register_controller(
    view: View, request: ControllerRegistrationRequest
) -> Decision[ControllerRegistrationResponse]:
    if not view.image.metadata_version.has_controller_registration:
        message = "The current MetadataVersion is too old to support controller registrations."
        return Decision(_response(ErrorCode.UNSUPPORTED_VERSION, message))
    return Decision(_response(ErrorCode.NONE, None), [_record(request)])


def _record(request: ControllerRegistrationRequest) -> RegisterControllerRecord:
    return RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            ControllerEndpoint(
                name=each.name,
                host=each.host,
                port=each.port,
                security_protocol=each.security_protocol,
            )
            for each in request.listeners
        ],
        features=[
            ControllerFeature(
                name=each.name,
                min_supported_version=each.min_supported_version,
                max_supported_version=each.max_supported_version,
            )
            for each in request.features
        ],
    )


def _response(code: ErrorCode, message: str | None) -> ControllerRegistrationResponse:
    return ControllerRegistrationResponse(
        throttle_time_ms=0, error_code=code, error_message=message
    )
