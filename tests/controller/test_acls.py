import pytest

from snakka.controller.acls import ANY, LITERAL, MATCH, PREFIXED, create_acls, delete_acls
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from snakka.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.controller.making import Cluster

TOPIC, GROUP, CLUSTER = 2, 3, 4
READ, WRITE = 3, 4
DENY, ALLOW = 2, 3


def rule(
    name: str = "orders",
    *,
    kind: int = TOPIC,
    pattern: int = LITERAL,
    operation: int = READ,
    permission: int = ALLOW,
) -> AclCreation:
    return AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal="User:alice",
        host="*",
        operation=operation,
        permission_type=permission,
    )


def create(cluster: Cluster, *rules: AclCreation) -> list[tuple[int, str | None]]:
    asked = CreateAclsRequest(creations=list(rules))
    response = cluster.decide(create_acls(cluster.view, asked, cluster.random))
    return [(each.error_code, each.error_message) for each in response.results]


def wanted(
    name: str | None = None,
    *,
    kind: int = ANY,
    pattern: int = ANY,
    operation: int = ANY,
    permission: int = ANY,
    principal: str | None = None,
) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=kind,
        resource_name_filter=name,
        pattern_type_filter=pattern,
        principal_filter=principal,
        host_filter=None,
        operation=operation,
        permission_type=permission,
    )


def delete(cluster: Cluster, *filters: DeleteAclsFilter) -> list[list[str]]:
    response = cluster.decide(delete_acls(cluster.view, DeleteAclsRequest(filters=list(filters))))
    return [[each.resource_name for each in result.matching_acls]
            for result in response.filter_results]  # fmt: skip


def test_rules_are_created_once() -> None:
    cluster = Cluster()
    assert create(cluster, rule(), rule(), rule(operation=WRITE)) == [(0, None)] * 3
    assert create(cluster, rule()) == [(0, None)]
    assert len(cluster.view.image.acls) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (rule(kind=0), "Invalid resourceType UNKNOWN"),
        (rule(kind=1), "Invalid resourceType ANY"),
        (rule(pattern=MATCH), "Invalid patternType MATCH"),
        (rule(operation=1), "Invalid operation ANY"),
        (rule(permission=1), "Invalid permissionType ANY"),
        (rule(""), "Resource name should not be empty"),
        (rule("x", kind=CLUSTER), "The only valid name for the CLUSTER resource is kafka-cluster"),
    ],
)
def test_refused(asked: AclCreation, message: str) -> None:
    cluster = Cluster()
    assert create(cluster, asked) == [(ErrorCode.INVALID_REQUEST, message)]
    assert not cluster.view.image.acls


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (wanted(), ["orders", "ord", "*", "group"]),
        (wanted(kind=GROUP), ["group"]),
        (wanted("orders"), ["orders"]),
        (wanted("orders", pattern=LITERAL), ["orders"]),
        (wanted("ord", pattern=PREFIXED), ["ord"]),
        (wanted("orders", pattern=PREFIXED), []),
        (wanted("orders", pattern=MATCH), ["orders", "ord", "*"]),
        (wanted("payments", pattern=MATCH), ["*"]),
        (wanted(permission=DENY), ["*"]),
        (wanted(operation=WRITE), ["ord"]),
        (wanted(principal="User:bob"), []),
    ],
)
def test_deleted_by_filter(asked: DeleteAclsFilter, names: list[str]) -> None:
    # pitfall 41: a literal `*` is a rule like any other
    cluster = Cluster()
    create(
        cluster,
        rule("orders"),
        rule("ord", pattern=PREFIXED, operation=WRITE),
        rule("*", permission=DENY),
        rule("group", kind=GROUP),
    )
    assert delete(cluster, asked) == [names]
    assert len(cluster.view.image.acls) == 4 - len(names)


def test_one_rule_may_match_several_filters_and_goes_once() -> None:
    cluster = Cluster()
    create(cluster, rule())
    assert delete(cluster, wanted("orders"), wanted()) == [["orders"], ["orders"]]
    assert not cluster.view.image.acls


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (wanted(kind=0), "Unknown patternFilter."),
        (wanted(pattern=0), "Unknown patternFilter."),
        (wanted(operation=0), "Unknown entryFilter."),
    ],
)
def test_filters_that_are_unknown_are_refused(asked: DeleteAclsFilter, message: str) -> None:
    (result,) = delete_acls(
        Cluster().view, DeleteAclsRequest(filters=[asked])
    ).response.filter_results
    assert (result.error_code, result.error_message) == (ErrorCode.INVALID_REQUEST, message)
