import pytest

from snakka.controller.client_quotas import alter_client_quotas
from snakka.metadata.keys import quota_entity
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from tests.controller.making import Cluster

ALICE = (("user", "alice"),)
DEFAULT_USER = (("user", None),)


def alter(
    cluster: Cluster,
    entity: tuple[tuple[str, str | None], ...],
    *ops: tuple[str, float | None],
    times: int = 1,
    validate_only: bool = False,
) -> list[tuple[int, str | None]]:
    entry = RequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )
    asked = AlterClientQuotasRequest(entries=[entry] * times, validate_only=validate_only)
    response = cluster.decide(alter_client_quotas(cluster.view, asked))
    return [(each.error_code, each.error_message) for each in response.entries]


def test_quotas_are_set_and_removed() -> None:
    cluster = Cluster()
    for entity in (ALICE, DEFAULT_USER, (("user", "a"), ("client-id", None)), (("ip", "::1"),)):
        key = "connection_creation_rate" if entity[0][0] == "ip" else "producer_byte_rate"
        assert alter(cluster, entity, (key, 5.0)) == [(0, None)]
        assert cluster.view.image.client_quotas[quota_entity(entity)] == {key: 5.0}
        assert alter(cluster, entity, (key, None)) == [(0, None)]
        assert not cluster.view.image.client_quotas


def test_what_does_not_change_is_not_written() -> None:
    cluster = Cluster()
    alter(cluster, ALICE, ("request_percentage", 0.5))
    offset = cluster.view.next_offset
    alter(cluster, ALICE, ("request_percentage", 0.5), ("producer_byte_rate", None))
    alter(cluster, ALICE, ("producer_byte_rate", 1.0), validate_only=True)
    assert cluster.view.next_offset == offset


@pytest.mark.parametrize(
    ("entity", "op", "message"),
    [
        ((), ("producer_byte_rate", 1.0), "Invalid empty client quota entity"),
        ((("user", ""),), ("producer_byte_rate", 1.0), "Empty user not supported"),
        ((("zebra", "a"),), ("producer_byte_rate", 1.0),
         "Unhandled client quota entity type: zebra"),
        ((("user", "a"), ("user", "b")), ("producer_byte_rate", 1.0),
         "Invalid client quota entity, duplicate entity entry user"),
        ((("ip", "::1"), ("user", "a")), ("connection_creation_rate", 1.0), "Invalid quota entity"
         " combination, IP entity should not be combined with User or ClientId"),
        ((("ip", "1.2.3"),), ("connection_creation_rate", 1.0),
         "1.2.3 is not a valid IP or resolvable host."),
        (ALICE, ("connection_creation_rate", 1.0),
         "Invalid configuration key connection_creation_rate"),
        (ALICE, ("producer_byte_rate", -1.0), "Quota producer_byte_rate must be greater than 0"),
        (ALICE, ("producer_byte_rate", float("nan")),
         "Quota producer_byte_rate must be greater than 0"),
        (ALICE, ("producer_byte_rate", 1.5), "producer_byte_rate cannot be a fractional value."),
        (ALICE, ("producer_byte_rate", 1e19),
         "Proposed value for producer_byte_rate is too large for a LONG."),
        ((("ip", None),), ("connection_creation_rate", 3e9),
         "Proposed value for connection_creation_rate is too large for an INT."),
    ],
)  # fmt: skip
def test_refused(
    entity: tuple[tuple[str, str | None], ...], op: tuple[str, float], message: str
) -> None:
    cluster = Cluster()
    assert alter(cluster, entity, op) == [(ErrorCode.INVALID_REQUEST, message)]
    assert not cluster.view.image.client_quotas


def test_an_entity_and_a_key_are_altered_once_in_a_request() -> None:
    cluster = Cluster()
    assert [code for code, _ in alter(cluster, ALICE, ("producer_byte_rate", 1.0), times=2)] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]
    twice = alter(cluster, ALICE, ("producer_byte_rate", 1.0), ("producer_byte_rate", 2.0))
    assert twice[0][0] == ErrorCode.INVALID_REQUEST
