"""AlterConfigs and IncrementalAlterConfigs."""

import pytest

from snakka.controller.alter_configs import (
    Operation,
    incrementally_alter_configs,
    replace_configs,
)
from snakka.metadata.keys import ConfigResource
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import PartitionChangeRecord
from snakka.protocol.messages import alter_configs, incremental_alter_configs
from tests.controller.making import Cluster, topic, topic_id
from tests.metadata.making import register

ORDERS = ConfigResource.topic("orders")


def cluster() -> Cluster:
    return Cluster(register(1), *topic("orders", 1, (1,)))


def alter(
    target: Cluster,
    resource: ConfigResource,
    *configs: tuple[str, int, str | None],
    times: int = 1,
    validate_only: bool = False,
) -> tuple[int, str | None]:
    asked = incremental_alter_configs.IncrementalAlterConfigsRequest(
        resources=[
            incremental_alter_configs.AlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=[
                    incremental_alter_configs.AlterableConfig(
                        name=name, config_operation=operation, value=value
                    )
                    for name, operation, value in configs
                ],
            )
        ]
        * times,
        validate_only=validate_only,
    )
    (result,) = target.decide(incrementally_alter_configs(target.view, asked)).responses
    return result.error_code, result.error_message


def replace(
    target: Cluster, resource: ConfigResource, **configs: str | None
) -> tuple[int, str | None]:
    asked = alter_configs.AlterConfigsRequest(
        resources=[
            alter_configs.AlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=[
                    alter_configs.AlterableConfig(name=name.replace("_", "."), value=value)
                    for name, value in configs.items()
                ],
            )
        ],
        validate_only=False,
    )
    (result,) = target.decide(replace_configs(target.view, asked)).responses
    return result.error_code, result.error_message


class TestIncremental:
    def test_sets_and_deletes(self) -> None:
        made = cluster()
        assert alter(made, ORDERS, ("retention.ms", Operation.SET, "5")) == (0, None)
        assert made.view.image.configs_of(ORDERS) == {"retention.ms": "5"}
        assert alter(made, ORDERS, ("retention.ms", Operation.DELETE, None)) == (0, None)
        assert made.view.image.configs_of(ORDERS) == {}

    def test_appends_to_the_default_and_takes_from_it(self) -> None:
        made = cluster()
        alter(made, ORDERS, ("cleanup.policy", Operation.APPEND, "compact,delete"))
        assert made.view.image.configs_of(ORDERS) == {"cleanup.policy": "delete,compact"}
        alter(made, ORDERS, ("cleanup.policy", Operation.SUBTRACT, "delete"))
        assert made.view.image.configs_of(ORDERS) == {"cleanup.policy": "compact"}

    def test_writes_what_changes_and_tells_brokers_of_all(self) -> None:
        made = cluster()
        for resource, count in ((ORDERS, 1), (ConfigResource.broker(1), 2)):
            offset = made.view.next_offset
            for _ in range(2):
                alter(made, resource, ("retention.ms", Operation.SET, "5"))
            assert made.view.next_offset - offset == count

    def test_writes_nothing_when_it_only_validates(self) -> None:
        made = cluster()
        alter(made, ORDERS, ("retention.ms", Operation.SET, "5"), validate_only=True)
        assert not made.view.image.configs

    def test_of_the_minimal_isr_makes_nobody_eligible(self) -> None:
        # pitfall 25
        made = cluster()
        made.apply(
            [
                PartitionChangeRecord(
                    partition_id=0, topic_id=topic_id(1), eligible_leader_replicas=[7]
                )
            ]
        )
        alter(made, ORDERS, ("min.insync.replicas", Operation.SET, "2"))
        assert made.partition(1).elr == ()

    @pytest.mark.parametrize(
        ("resource", "config", "code", "message"),
        [
            (ORDERS, ("no.such", 0, "1"), 40, "Unknown topic config name: no.such"),
            (ORDERS, ("retention.ms", 0, "x"), 40,
             "Invalid value x for configuration retention.ms"),
            (ORDERS, ("retention.ms", 2, "1"), 40,
             "Can't APPEND to key retention.ms because its type is not LIST."),
            (ORDERS, ("retention.ms", 9, "1"), 42, "Unknown operation type 9."),
            (ORDERS, ("retention.ms", 0, None), 42, "Null value not supported for : retention.ms"),
            (ORDERS, ("retention.ms", 0, "1" * 32_768), 40, "The configuration value cannot be"
             " added because it exceeds the maximum value size of 32767 bytes."),
            (ConfigResource.topic("gone"), ("retention.ms", 0, "1"), 3,
             "The topic 'gone' does not exist."),
            (ConfigResource.topic(""), ("retention.ms", 0, "1"), 42,
             "Default topic resources are not allowed."),
            (ConfigResource(32, ""), ("retention.ms", 0, "1"), 42,
             "Default group resources are not allowed."),
            (ConfigResource(4, "x"), ("retention.ms", 0, "1"), 42,
             "Unable to parse broker name as a base 10 number."),
            (ConfigResource(4, "-1"), ("retention.ms", 0, "1"), 42, "Invalid negative broker ID."),
            (ConfigResource.broker(9), ("retention.ms", 0, "1"), 102, "No node with id 9 found."),
            (ConfigResource(77, "x"), ("retention.ms", 0, "1"), 35, "Unknown resource type 77."),
            (ConfigResource.broker(1), ("min.insync.replicas", 0, "1"), 40,
             "Broker-level min.insync.replicas cannot be altered while ELR is enabled."),
            (ConfigResource.broker(), ("min.insync.replicas", 1, None), 40,
             "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."),
        ],
    )  # fmt: skip
    def test_refuses(
        self,
        resource: ConfigResource,
        config: tuple[str, int, str | None],
        code: int,
        message: str,
    ) -> None:
        made = cluster()
        assert alter(made, resource, config) == (code, message)
        assert not made.view.image.configs

    def test_refuses_a_resource_or_a_key_twice(self) -> None:
        made = cluster()
        config = ("retention.ms", 0, "1")
        assert alter(made, ORDERS, config, times=2) == (42, "Duplicate resource.")
        assert alter(made, ORDERS, config, config) == (42, "Error due to duplicate config keys")


class TestReplacement:
    def test_unsets_what_it_does_not_name(self) -> None:
        made = cluster()
        assert replace(made, ORDERS, retention_ms="5", cleanup_policy="compact") == (0, None)
        assert replace(made, ORDERS, retention_ms="6") == (0, None)
        assert made.view.image.configs_of(ORDERS) == {"retention.ms": "6"}

    def test_refuses_null_and_bad_values(self) -> None:
        made = cluster()
        assert replace(made, ORDERS, retention_ms=None)[0] == ErrorCode.INVALID_REQUEST
        assert replace(made, ORDERS, retention_ms="x")[0] == ErrorCode.INVALID_CONFIG
        assert not made.view.image.configs
