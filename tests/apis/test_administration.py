"""Quotas, credentials and configured resources as they are listed, and what is refused."""

from pathlib import Path

import pytest

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, Provenance
from snakka.metadata.keys import ConfigType
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import (
    ClientQuotaRecord,
    ConfigRecord,
    EntityData,
    TopicRecord,
    UserScramCredentialRecord,
)
from snakka.protocol.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from snakka.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from snakka.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from snakka.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from snakka.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from snakka.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from snakka.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from snakka.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from snakka.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from snakka.protocol.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from snakka.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from snakka.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from snakka.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.apis.broker import TestBroker, run
from tests.metadata.making import register, topic_id

EXACT, DEFAULT, SPECIFIED = range(3)
QUOTAS: list[dict[str, str | None]] = [
    {"user": "ann"},
    {"user": None},
    {"user": "ann", "client-id": "c"},
    {"client-id": "c"},
    {"client-id": None},
    {"ip": "127.0.0.1"},
]


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    made = TestBroker(tmp_path)
    delta = MetadataDelta(EMPTY)
    for number, quota in enumerate(QUOTAS):
        entity = [EntityData(entity_type=kind, entity_name=name) for kind, name in quota.items()]
        delta.replay(
            ClientQuotaRecord(
                entity=entity, key="producer_byte_rate", value=float(number), remove=False
            )
        )
    for user, mechanism in (("ann", 1), ("ann", 2), ("bob", 2)):
        delta.replay(
            UserScramCredentialRecord(
                name=user,
                mechanism=mechanism,
                salt=b"",
                stored_key=b"",
                server_key=b"",
                iterations=4096 * mechanism,
            )
        )
    for kind, name in (
        (ConfigType.GROUP, "g"),
        (ConfigType.CLIENT_METRICS, "m"),
        (ConfigType.BROKER, ""),
    ):
        delta.replay(ConfigRecord(resource_type=kind, resource_name=name, name="k", value="v"))
    delta.replay(TopicRecord(name="t", topic_id=topic_id(1)))
    delta.replay(register(3))
    made.image = delta.after(Provenance(10, 1, 0))
    return made


def quotas(
    broker: TestBroker, *components: tuple[str, int, str | None], strict: bool = False
) -> DescribeClientQuotasResponse:
    request = DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=kind, match_type=match_type, match=match)
            for kind, match_type, match in components
        ],
        strict=strict,
    )
    return run(broker.ask(request, 1, DescribeClientQuotasResponse))


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([], False, [0, 1, 2, 3, 4, 5]),
        ([], True, []),
        ([("user", EXACT, "ann")], False, [0, 2]),
        ([("user", EXACT, "ann")], True, [0]),
        ([("user", DEFAULT, None)], False, [1]),
        ([("user", SPECIFIED, None)], False, [0, 1, 2]),
        ([("user", SPECIFIED, None), ("client-id", SPECIFIED, None)], True, [2]),
        ([("client-id", SPECIFIED, None)], True, [3, 4]),
        ([("ip", SPECIFIED, None)], False, [5]),
    ],
)
def test_quotas_by_filter(
    broker: TestBroker,
    components: list[tuple[str, int, str | None]],
    strict: bool,
    found: list[int],
) -> None:
    answer = quotas(broker, *components, strict=strict)
    assert answer.error_code == ErrorCode.NONE
    assert answer.entries is not None
    assert sorted(each.values[0].value for each in answer.entries) == found
    told = [{part.entity_type: part.entity_name for part in each.entity} for each in answer.entries]
    assert all(each in QUOTAS for each in told)


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([("", EXACT, "a")], ErrorCode.INVALID_REQUEST),
        ([("group", EXACT, "a")], ErrorCode.UNSUPPORTED_VERSION),
        ([("user", EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([("user", DEFAULT, "a")], ErrorCode.INVALID_REQUEST),
        ([("user", SPECIFIED, "a")], ErrorCode.INVALID_REQUEST),
        ([("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([("user", EXACT, "a"), ("user", EXACT, "b")], ErrorCode.INVALID_REQUEST),
        ([("ip", EXACT, "a"), ("user", EXACT, "b")], ErrorCode.INVALID_REQUEST),
    ],
)
def test_quota_filters_that_cannot_be(
    broker: TestBroker, components: list[tuple[str, int, str | None]], code: ErrorCode
) -> None:
    answer = quotas(broker, *components)
    assert (answer.error_code, answer.entries) == (code, None)
    assert answer.error_message


def test_credentials_of_users(broker: TestBroker) -> None:
    def ask(*names: str) -> dict[str, tuple[int, list[tuple[int, int]]]]:
        request = DescribeUserScramCredentialsRequest(
            users=[UserName(name=each) for each in names] or None
        )
        answer = run(broker.ask(request, 0, DescribeUserScramCredentialsResponse))
        return {
            each.user: (
                each.error_code,
                [(info.mechanism, info.iterations) for info in each.credential_infos],
            )
            for each in answer.results
        }

    ann = (ErrorCode.NONE, [(1, 4096), (2, 8192)])
    assert ask() == {"ann": ann, "bob": (ErrorCode.NONE, [(2, 8192)])}
    assert ask("ann") == {"ann": ann}
    assert ask("cid") == {"cid": (ErrorCode.RESOURCE_NOT_FOUND, [])}
    assert ask("ann", "bob", "ann")["ann"] == (ErrorCode.DUPLICATE_RESOURCE, [])


@pytest.mark.parametrize(
    ("version", "kinds", "found"),
    [
        (0, [], [(16, "m")]),
        (1, [], [(2, "t"), (4, "3"), (16, "m"), (32, "g")]),
        (1, [32, 2], [(2, "t"), (32, "g")]),
        (1, [8], []),
    ],
)
def test_resources_with_configuration(
    broker: TestBroker, version: int, kinds: list[int], found: list[tuple[int, str]]
) -> None:
    request = ListConfigResourcesRequest(resource_types=kinds)
    answer = run(broker.ask(request, version, ListConfigResourcesResponse))
    assert answer.error_code == ErrorCode.NONE
    told = [(each.resource_type, each.resource_name) for each in answer.config_resources]
    assert told == found


def test_kinds_of_resources_that_are_not_known(broker: TestBroker) -> None:
    request = ListConfigResourcesRequest(resource_types=[2, 3])
    answer = run(broker.ask(request, 1, ListConfigResourcesResponse))
    assert (answer.error_code, answer.config_resources) == (ErrorCode.UNSUPPORTED_VERSION, [])


def test_access_rules_without_an_authorizer(broker: TestBroker) -> None:
    disabled = (ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    everything = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    told = run(broker.ask(everything, 3, DescribeAclsResponse))
    assert (told.error_code, told.error_message) == disabled
    rule = AclCreation(
        resource_type=2,
        resource_name="t",
        principal="User:ann",
        host="*",
        operation=3,
        permission_type=3,
    )
    made = run(broker.ask(CreateAclsRequest(creations=[rule, rule]), 3, CreateAclsResponse))
    assert [(each.error_code, each.error_message) for each in made.results] == [disabled] * 2
    filter_ = DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    gone = run(broker.ask(DeleteAclsRequest(filters=[filter_]), 3, DeleteAclsResponse))
    assert [(each.error_code, each.error_message) for each in gone.filter_results] == [disabled]


def test_tokens_and_logins_on_a_listener_where_nobody_logs_in(broker: TestBroker) -> None:
    create = CreateDelegationTokenRequest(
        owner_principal_type=None, owner_principal_name=None, renewers=[], max_lifetime_ms=-1
    )
    codes = [
        run(broker.ask(create, 3, CreateDelegationTokenResponse)).error_code,
        run(
            broker.ask(
                RenewDelegationTokenRequest(hmac=b"", renew_period_ms=1),
                2,
                RenewDelegationTokenResponse,
            )
        ).error_code,
        run(
            broker.ask(
                ExpireDelegationTokenRequest(hmac=b"", expiry_time_period_ms=1),
                2,
                ExpireDelegationTokenResponse,
            )
        ).error_code,
        run(
            broker.ask(
                DescribeDelegationTokenRequest(owners=None), 3, DescribeDelegationTokenResponse
            )
        ).error_code,
    ]
    assert codes == [ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED] * 4
    handshake = SaslHandshakeRequest(mechanism="PLAIN")
    authenticate = SaslAuthenticateRequest(auth_bytes=b"")
    codes = [
        run(broker.ask(handshake, 1, SaslHandshakeResponse)).error_code,
        run(broker.ask(authenticate, 2, SaslAuthenticateResponse)).error_code,
    ]
    assert codes == [ErrorCode.ILLEGAL_SASL_STATE] * 2


@pytest.mark.parametrize("is_asked", [True, False])
def test_authorized_operations_are_told_where_they_are_asked_for(
    broker: TestBroker, is_asked: bool
) -> None:
    metadata = run(
        broker.ask(
            MetadataRequest(
                topics=None,
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=is_asked,
                include_cluster_authorized_operations=is_asked,
            ),
            10,
            MetadataResponse,
        )
    )
    cluster = run(
        broker.ask(
            DescribeClusterRequest(include_cluster_authorized_operations=is_asked),
            2,
            DescribeClusterResponse,
        )
    )
    on_cluster = sum(1 << operation for operation in (5, 7, 8, 9, 10, 11, 12))
    on_topic = sum(1 << operation for operation in (3, 4, 5, 6, 7, 8, 10, 11))
    told = (
        metadata.topics[0].topic_authorized_operations,
        metadata.cluster_authorized_operations,
        cluster.cluster_authorized_operations,
    )
    assert told == ((on_topic, on_cluster, on_cluster) if is_asked else (-(2**31),) * 3)
