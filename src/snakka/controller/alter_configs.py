"""AlterConfigs and IncrementalAlterConfigs: topics, brokers, groups and client metrics.

Each resource succeeds or fails for itself. KIP-339 incremental changes; KIP-966: with eligible
leader replicas, who is eligible depends on `min.insync.replicas`, so that changing it makes the
eligible ones none, and brokers cannot differ in it.

Not here: what keys and values are valid (the ConfigRules port), loggers, which are a broker's own,
alter.config.policy.class.name, which names Java code.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Final, TypeAlias

from snakka.controller.config_resources import check_resource
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.limits import check_record_count
from snakka.controller.view import View
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import ClearElrRecord, ConfigRecord
from snakka.protocol.messages import alter_configs, incremental_alter_configs

MIN_ISR: Final = "min.insync.replicas"
_VALUE_BYTES_MAX: Final = 32_767


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


# What becomes of a resource's keys, None for those that are no longer set.
_Changes: TypeAlias = dict[str, str | None]
_Outcome: TypeAlias = tuple[ConfigResource, ErrorCode, str | None]


def incrementally_alter_configs(
    view: View, request: incremental_alter_configs.IncrementalAlterConfigsRequest
) -> Decision[incremental_alter_configs.IncrementalAlterConfigsResponse]:
    def changes(resource: ConfigResource, index: int) -> _Changes:
        return _incremental(view, resource, request.resources[index].configs)

    resources = [ConfigResource(each.resource_type, each.resource_name)
                 for each in request.resources]  # fmt: skip
    outcomes, records = _alter(view, resources, changes)
    response = incremental_alter_configs.IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            incremental_alter_configs.AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.type,
                resource_name=resource.name,
            )
            for resource, code, message in outcomes
        ],
    )
    return Decision(response, [] if request.validate_only else records)


def replace_configs(
    view: View, request: alter_configs.AlterConfigsRequest
) -> Decision[alter_configs.AlterConfigsResponse]:
    """What is not given is no longer set."""

    def changes(resource: ConfigResource, index: int) -> _Changes:
        return _replacement(view, resource, request.resources[index].configs)

    resources = [ConfigResource(each.resource_type, each.resource_name)
                 for each in request.resources]  # fmt: skip
    outcomes, records = _alter(view, resources, changes)
    response = alter_configs.AlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            alter_configs.AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.type,
                resource_name=resource.name,
            )
            for resource, code, message in outcomes
        ],
    )
    return Decision(response, [] if request.validate_only else records)


def _alter(
    view: View, resources: list[ConfigResource], changes: Callable[[ConfigResource, int], _Changes]
) -> tuple[list[_Outcome], list[MetadataRecord]]:
    outcomes: list[_Outcome] = []
    records: list[MetadataRecord] = []
    times = Counter(resources)
    for resource, index in {each: index for index, each in enumerate(resources)}.items():
        try:
            if times[resource] > 1:
                raise RefusedError(ErrorCode.INVALID_REQUEST, "Duplicate resource.")
            check_resource(view, resource)
            changed = changes(resource, index)
            _check(view, resource, changed)
            made = _records(view, resource, changed)
            check_record_count([*records, *made])
        except RefusedError as refused:
            outcomes.append((resource, refused.code, refused.message))
        else:
            records += made
            outcomes.append((resource, ErrorCode.NONE, None))
    return outcomes, records


def _incremental(
    view: View,
    resource: ConfigResource,
    configs: Iterable[incremental_alter_configs.AlterableConfig],
) -> _Changes:
    configs = list(configs)
    _check_given(
        [config.name for config in configs],
        [
            config.name
            for config in configs
            if config.value is None and config.config_operation != Operation.DELETE
        ],
    )
    current = view.image.configs_of(resource)
    changes: _Changes = {}
    for config in configs:
        before = current.get(config.name)
        after = _after(view, resource, config, before)
        # A broker is told even of the same value: it reads what the value names anew.
        if after != before or resource.type == ConfigType.BROKER:
            changes[config.name] = after
    return changes


def _after(
    view: View,
    resource: ConfigResource,
    config: incremental_alter_configs.AlterableConfig,
    before: str | None,
) -> str | None:
    match config.config_operation:
        case Operation.SET:
            return config.value
        case Operation.DELETE:
            return None
        case Operation.APPEND | Operation.SUBTRACT as operation:
            return _list_after(view, resource, config, before, Operation(operation))
        case unknown:
            raise RefusedError(ErrorCode.INVALID_REQUEST, f"Unknown operation type {unknown}.")


def _list_after(
    view: View,
    resource: ConfigResource,
    config: incremental_alter_configs.AlterableConfig,
    before: str | None,
    operation: Operation,
) -> str:
    if not view.rules.is_list(resource.type, config.name):
        raise RefusedError(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {config.name} because its type is not LIST.",
        )
    if before is None:
        before = view.rules.default(resource.type, config.name)
    values = [each for each in (before or "").split(",") if each]
    given = (config.value or "").split(",")
    if operation is Operation.APPEND:
        return ",".join(dict.fromkeys([*values, *given]))
    return ",".join(each for each in values if each not in given)


def _replacement(
    view: View, resource: ConfigResource, configs: Iterable[alter_configs.AlterableConfig]
) -> _Changes:
    configs = list(configs)
    unset = [config.name for config in configs if config.value is None]
    _check_given([config.name for config in configs], unset)
    current = view.image.configs_of(resource)
    changes: _Changes = {
        config.name: config.value
        for config in configs
        if current.get(config.name) != config.value or resource.type == ConfigType.BROKER
    }
    given = {config.name for config in configs}
    changes |= dict.fromkeys(name for name in current if name not in given)
    return changes


def _check_given(names: list[str], unset: list[str]) -> None:
    if len(set(names)) != len(names):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    if unset:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(unset)}"
        )


def _check(view: View, resource: ConfigResource, changes: Mapping[str, str | None]) -> None:
    before = view.image.configs_of(resource)
    if any(len((value or "").encode()) > _VALUE_BYTES_MAX for value in changes.values()):
        raise RefusedError(
            ErrorCode.INVALID_CONFIG,
            "The configuration value cannot be added because it exceeds the maximum value size of"
            f" {_VALUE_BYTES_MAX} bytes.",
        )
    if view.has_elr and resource.type == ConfigType.BROKER and MIN_ISR in changes:
        _check_min_isr(resource, changes[MIN_ISR])
    after = {name: value for name, value in {**before, **changes}.items() if value is not None}
    try:
        view.rules.validate(resource, after, before)
    except ValueError as invalid:
        raise RefusedError(ErrorCode.INVALID_CONFIG, str(invalid)) from None


def _check_min_isr(resource: ConfigResource, value: str | None) -> None:
    if resource.name:
        raise RefusedError(
            ErrorCode.INVALID_CONFIG,
            f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.",
        )
    if value is None:
        raise RefusedError(
            ErrorCode.INVALID_CONFIG,
            f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.",
        )


def _records(
    view: View, resource: ConfigResource, changes: Mapping[str, str | None]
) -> list[MetadataRecord]:
    records: list[MetadataRecord] = [
        ConfigRecord(
            resource_type=resource.type, resource_name=resource.name, name=name, value=value
        )
        for name, value in changes.items()
    ]
    if (
        view.has_elr
        and MIN_ISR in changes
        and resource.type in (ConfigType.TOPIC, ConfigType.BROKER)
    ):
        topic = resource.name if resource.type == ConfigType.TOPIC else ""
        records.append(ClearElrRecord(topic_name=topic))
    return records
