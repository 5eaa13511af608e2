"""The group coordinator as the APIs see it: a request message in, its response message out.

Every refusal becomes the response that carries it; nothing raises. Which requests a client may make
and which topics there are is for the APIs to know, as are topic ids (they come by name here).

Not here: what is decided (the parts of GroupMachine), what forms old versions have (forms.py).
"""

from asyncio import Future
from collections.abc import Callable, Collection
from contextlib import suppress
from random import Random
from typing import TypeAlias, TypeVar

from snakka.coordinators.coordinator import Coordinator
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups import commands, forms
from snakka.coordinators.groups.classic.outcome import refuse_join, refuse_sync
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer.topics import NO_TOPICS, Topics
from snakka.coordinators.groups.machine import GroupMachine
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import Command, HostSettings, TransactionEnd
from snakka.coordinators.ports import Timers
from snakka.coordinators.runtime import Runtime
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.frames import GROUP_RECORDS
from snakka.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from snakka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from snakka.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from snakka.protocol.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from snakka.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from snakka.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from snakka.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from snakka.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

R = TypeVar("R")
Started: TypeAlias = Future[R] | CoordinatorError


class Groups(Coordinator[GroupMachine]):
    """All groups that this broker coordinates."""

    def __init__(
        self,
        settings: GroupSettings,
        host_settings: HostSettings,
        partition_count: Callable[[], int],  # of __consumer_offsets
        timers: Timers,
        random: Random,
        topics: Topics = NO_TOPICS,
    ) -> None:
        runtime = Runtime(
            lambda: GroupMachine(settings, topics), GROUP_RECORDS, timers, host_settings
        )
        super().__init__(runtime, partition_count)
        self._settings = settings
        self._random = random

    async def join_group(self, request: JoinGroupRequest, client: ClientInfo) -> JoinGroupResponse:
        try:
            _check_group_id(request.group_id)
            self._check_session_timeout(request.session_timeout_ms)
            response = await self._execute(
                request.group_id,
                lambda machine, now_ms: machine.join(request, client, now_ms, self._random),
            )
        except CoordinatorError as error:
            response = refuse_join(error.code, request.member_id)
        return forms.fit_join_response(response, client.api_version)

    async def sync_group(self, request: SyncGroupRequest, client: ClientInfo) -> SyncGroupResponse:
        try:
            _check_group_id(request.group_id)
            return await self._execute(
                request.group_id, lambda machine, now_ms: machine.sync(request, now_ms)
            )
        except CoordinatorError as error:
            return refuse_sync(error.code)

    async def heartbeat(self, request: HeartbeatRequest, client: ClientInfo) -> HeartbeatResponse:
        try:
            _check_group_id(request.group_id)
            return await self._execute(
                request.group_id, lambda machine, now_ms: machine.heartbeat(request, now_ms)
            )
        except CoordinatorError as error:
            # Sessions begin anew once loaded; until then nobody is to leave its group for that.
            is_loading = error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            return HeartbeatResponse(error_code=ErrorCode.NONE if is_loading else error.code)

    async def leave_group(
        self, request: LeaveGroupRequest, client: ClientInfo
    ) -> LeaveGroupResponse:
        wanted = forms.widen_leave_request(request, client.api_version)
        try:
            _check_group_id(request.group_id)
            response = await self._execute(
                request.group_id, lambda machine, now_ms: machine.leave(wanted, now_ms)
            )
        except CoordinatorError as error:
            return LeaveGroupResponse(error_code=error.code, members=[])
        return forms.fit_leave_response(response, client.api_version)

    async def consumer_group_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, client: ClientInfo
    ) -> ConsumerGroupHeartbeatResponse:
        try:
            return await self._execute(
                request.group_id,
                lambda machine, now_ms: machine.consumers.heartbeat(
                    request, client, now_ms, self._random
                ),
            )
        except CoordinatorError as error:
            return forms.refuse_consumer_heartbeat(error.code)

    async def commit_offsets(
        self, request: OffsetCommitRequest, client: ClientInfo
    ) -> OffsetCommitResponse:
        try:
            return await self._execute(
                request.group_id,
                lambda machine, now_ms: machine.commits.commit(request, client, now_ms),
            )
        except CoordinatorError as error:
            return forms.refuse_commit(request, error.code)

    async def commit_offsets_in_transaction(
        self, request: TxnOffsetCommitRequest, client: ClientInfo
    ) -> TxnOffsetCommitResponse:
        """The caller has made sure that the transaction is the producer's current one (KIP-890)."""
        try:
            _check_group_id(request.group_id)
            return await self._execute(
                request.group_id,
                lambda machine, now_ms: machine.commits.commit_in_transaction(request, now_ms),
            )
        except CoordinatorError as error:
            return forms.refuse_transactional_commit(request, error.code)

    async def end_transaction(self, index: int, end: TransactionEnd) -> ErrorCode:
        """Writes a transaction's marker to a partition of __consumer_offsets."""
        try:
            await self._runtime.get(index).end_transaction(end)
        except CoordinatorError as error:
            return forms.marker_error(error.code)
        return ErrorCode.NONE

    async def fetch_offsets(
        self, request: OffsetFetchRequest, client: ClientInfo
    ) -> OffsetFetchResponse:
        asked = forms.widen_fetch_request(request, client.api_version)
        started = [self._start(each.group_id, commands.fetch(each, request)) for each in asked]
        groups = [
            await _answer(each, forms.fetch_refusal(group))
            for group, each in zip(asked, started, strict=True)
        ]
        return forms.fit_fetch_response(request, groups, client.api_version)

    async def delete_offsets(
        self, request: OffsetDeleteRequest, client: ClientInfo
    ) -> OffsetDeleteResponse:
        try:
            _check_group_id(request.group_id)
            return await self._execute(
                request.group_id, lambda machine, now_ms: machine.removals.delete_offsets(request)
            )
        except CoordinatorError as error:
            return OffsetDeleteResponse(error_code=error.code, throttle_time_ms=0, topics=[])

    async def delete_groups(
        self, request: DeleteGroupsRequest, client: ClientInfo
    ) -> DeleteGroupsResponse:
        started = {each: self._start(each, commands.delete(each)) for each in request.groups_names}
        results = []
        for group_id, each in started.items():
            code: ErrorCode = await _answer(each, _same)
            results.append(DeletableGroupResult(group_id=group_id, error_code=code))
        return DeleteGroupsResponse(throttle_time_ms=0, results=results)

    async def delete_topics(self, names: Collection[str]) -> None:
        """Forgets the positions in topics that are no more."""
        for hosted in self._runtime:
            with suppress(CoordinatorError):  # retention gets what a coordinator misses
                await hosted.execute(lambda machine, now_ms: machine.removals.delete_topics(names))

    async def describe_groups(
        self, request: DescribeGroupsRequest, client: ClientInfo
    ) -> DescribeGroupsResponse:
        started = {
            each: self._start(each, commands.describe(each, client.api_version))
            for each in request.groups
        }
        groups = [
            await _answer(each, forms.describe_refusal(group_id))
            for group_id, each in started.items()
        ]
        return DescribeGroupsResponse(groups=groups)

    async def describe_consumer_groups(
        self, request: ConsumerGroupDescribeRequest, client: ClientInfo
    ) -> ConsumerGroupDescribeResponse:
        started = {
            each: self._start(each, commands.describe_consumer(each)) for each in request.group_ids
        }
        groups = [
            await _answer(each, forms.consumer_describe_refusal(group_id))
            for group_id, each in started.items()
        ]
        return ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=groups)

    async def list_groups(
        self, request: ListGroupsRequest, client: ClientInfo
    ) -> ListGroupsResponse:
        try:
            started = [hosted.execute(commands.list_all(request)) for hosted in self._runtime]
            groups = [group for each in started for group in await each]
        except CoordinatorError as error:
            return ListGroupsResponse(error_code=error.code, groups=[])
        return ListGroupsResponse(error_code=ErrorCode.NONE, groups=groups)

    def _start(self, group_id: str, command: Command[GroupMachine, R]) -> Started[R]:
        """Decides now; a refusal is kept for whoever waits for the answer."""
        try:
            return self._runtime.get(self.partition_of(group_id)).execute(command)
        except CoordinatorError as error:
            return error

    async def _execute(self, group_id: str, command: Command[GroupMachine, R]) -> R:
        started = self._start(group_id, command)
        if isinstance(started, CoordinatorError):
            raise started
        return await started

    def _check_session_timeout(self, timeout_ms: int) -> None:
        settings = self._settings
        if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms:
            raise CoordinatorError(ErrorCode.INVALID_SESSION_TIMEOUT)


def _check_group_id(group_id: str) -> None:
    """Only offsets may be kept by the group without a name, as they once could."""
    if not group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)


async def _answer(started: Started[R], refusal: Callable[[ErrorCode], R]) -> R:
    """One of several groups' answers: what it is refused with is told of that group alone."""
    if isinstance(started, CoordinatorError):
        return refusal(started.code)
    try:
        return await started
    except CoordinatorError as error:
        return refusal(error.code)


def _same(code: ErrorCode) -> ErrorCode:
    return code
