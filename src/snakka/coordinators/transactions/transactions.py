"""The transaction coordinator as the APIs see it: a request message in, its response message out.

Every refusal becomes the response that carries it; nothing raises. Which topics there are is for
the APIs to know.

Not here: what is decided (TransactionMachine), sending markers (finishing.py).
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import TypeVar

from snakka.coordinators.coordinator import Coordinator
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import Command, Hosted, HostSettings
from snakka.coordinators.ports import Timers
from snakka.coordinators.runtime import Runtime
from snakka.coordinators.transactions import listing
from snakka.coordinators.transactions.finishing import Finishing
from snakka.coordinators.transactions.initializing import (
    NeedsProducerIdError,
    Producer,
    expected_producer,
)
from snakka.coordinators.transactions.machine import TransactionMachine
from snakka.coordinators.transactions.metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    TransactionMetadata,
)
from snakka.coordinators.transactions.ports import MarkerSender, ProducerIds
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.frames import TRANSACTION_RECORDS
from snakka.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from snakka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from snakka.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from snakka.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)

R = TypeVar("R")


class Transactions(Coordinator[TransactionMachine]):
    """All transactional ids that this broker coordinates."""

    def __init__(
        self,
        settings: TransactionSettings,
        host_settings: HostSettings,
        partition_count: Callable[[], int],  # of __transaction_state
        find_version: Callable[[], int],  # the level of transaction.version
        timers: Timers,
        producer_ids: ProducerIds,
        sender: MarkerSender,
    ) -> None:
        runtime = Runtime(
            lambda: TransactionMachine(settings, find_version),
            TRANSACTION_RECORDS,
            timers,
            host_settings,
            self._perform,
        )
        super().__init__(runtime, partition_count)
        self._settings = settings
        self._timers = timers
        self._producer_ids = producer_ids
        self._finishing = Finishing(sender, timers, settings)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._finishing.stop()
        await super().__aexit__(kind, error, traceback)

    async def init_producer_id(self, request: InitProducerIdRequest) -> InitProducerIdResponse:
        """For a transactional id, or for the idempotence of a producer without one."""
        try:
            if request.transactional_id is None:
                return _initialized(Producer(await self._producer_ids.next(), 0))
            return _initialized(await self._init_transactional(request, request.transactional_id))
        except CoordinatorError as error:
            return InitProducerIdResponse(
                throttle_time_ms=0,
                error_code=error.code,
                producer_id=NO_PRODUCER_ID,
                producer_epoch=NO_PRODUCER_EPOCH,
            )

    async def add_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: AbstractSet[TopicPartition],
        client_version: int,
    ) -> ErrorCode:
        """Partitions that the producer is about to write to."""
        try:
            return await self._execute(
                transactional_id,
                lambda machine, now_ms: machine.add_partitions(
                    transactional_id, producer, partitions, client_version, now_ms
                ),
            )
        except CoordinatorError as error:
            return error.code

    async def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: AbstractSet[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        """Whether partitions are in the producer's transaction (KIP-890)."""
        try:
            return await self._execute(
                transactional_id,
                lambda machine, now_ms: machine.verify_partitions(
                    transactional_id, producer, partitions
                ),
            )
        except CoordinatorError as error:
            return dict.fromkeys(partitions, error.code)

    async def end_transaction(self, request: EndTxnRequest, client_version: int) -> EndTxnResponse:
        try:
            producer = await self._execute_with_id(
                request.transactional_id,
                lambda producer_id: (
                    lambda machine, now_ms: machine.end(
                        request, client_version, producer_id, now_ms
                    )
                ),
            )
        except CoordinatorError as error:
            return EndTxnResponse(throttle_time_ms=0, error_code=error.code)
        return EndTxnResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.NONE,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
        )

    async def describe_transactions(
        self, request: DescribeTransactionsRequest
    ) -> DescribeTransactionsResponse:
        states = [await self._describe(each) for each in request.transactional_ids]
        return DescribeTransactionsResponse(throttle_time_ms=0, transaction_states=states)

    async def list_transactions(self, request: ListTransactionsRequest) -> ListTransactionsResponse:
        unknown = listing.unknown_states(request)
        try:
            wanted = listing.Filter.of(request)
            started = [
                hosted.execute(lambda machine, now_ms: machine.list_all(wanted, now_ms))
                for hosted in self._runtime
            ]
            states = [state for each in started for state in await each]
        except CoordinatorError as error:
            return ListTransactionsResponse(
                throttle_time_ms=0,
                error_code=error.code,
                unknown_state_filters=unknown,
                transaction_states=[],
            )
        return ListTransactionsResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.NONE,
            unknown_state_filters=unknown,
            transaction_states=states,
        )

    async def _init_transactional(
        self, request: InitProducerIdRequest, transactional_id: str
    ) -> Producer:
        _check_name(transactional_id)
        timeout_ms = request.transaction_timeout_ms
        if not 0 < timeout_ms <= self._settings.max_timeout_ms:
            raise CoordinatorError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        expected = expected_producer(request.producer_id, request.producer_epoch)
        begun = await self._execute_with_id(
            transactional_id,
            lambda producer_id: (
                lambda machine, now_ms: machine.init_producer(
                    transactional_id, expected, timeout_ms, producer_id, now_ms
                )
            ),
        )
        if begun is None:
            raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return Producer(begun.producer_id, begun.producer_epoch)

    async def _describe(self, transactional_id: str) -> TransactionState:
        try:
            return await self._execute(
                transactional_id, lambda machine, now_ms: machine.describe(transactional_id)
            )
        except CoordinatorError as error:
            return listing.refuse_describe(transactional_id, error.code)

    def _perform(self, hosted: Hosted[TransactionMachine], effect: object) -> None:
        assert isinstance(effect, TransactionMetadata)
        self._finishing.start(hosted, effect)

    async def _execute_with_id(
        self,
        transactional_id: str,
        command: Callable[[int | None], Command[TransactionMachine, R]],
    ) -> R:
        """Few decisions take a new producer id, and getting one may take time."""
        try:
            return await self._execute(transactional_id, command(None))
        except NeedsProducerIdError:
            producer_id = await self._producer_ids.next()
        return await self._execute(transactional_id, command(producer_id))

    async def _execute(self, transactional_id: str, command: Command[TransactionMachine, R]) -> R:
        _check_name(transactional_id)
        return await self._runtime.get(self.partition_of(transactional_id)).execute(command)


def _check_name(transactional_id: str) -> None:
    if not transactional_id:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)


def _initialized(producer: Producer) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
    )
