"""Topics that come to be because somebody asked for them: `auto.create.topics.enable`, and the
internal ones, with the partitions and settings that Kafka gives them.

Whoever asks for one that is being made already waits for the same making.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from snakka.apis.cluster import (
    INTERNAL_TOPICS,
    OFFSETS_TOPIC,
    SHARE_STATE_TOPIC,
    TRANSACTIONS_TOPIC,
)
from snakka.apis.context import Controller
from snakka.config.broker import BrokerConfig
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

log = logging.getLogger(__name__)

_VERSION: Final = 7
_DEFAULT: Final = -1
_EXPECTED: Final = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


class TopicCreator:
    """Makes topics by asking the controller, once each."""

    def __init__(
        self,
        config: BrokerConfig,
        controller: Controller,
        hosted: Callable[[], Awaitable[None]],
    ) -> None:
        self._config = config
        self._controller = controller
        self._hosted = hosted  # returns once this broker has followed the metadata log
        self._under_way: dict[str, asyncio.Task[None]] = {}

    async def create_missing(self, names: Sequence[str]) -> None:
        makings = [
            self._under_way.get(name) or self._start(name)
            for name in names
            if name in INTERNAL_TOPICS or self._config.get_bool("auto.create.topics.enable")
        ]
        await asyncio.gather(*makings)

    def _start(self, name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._create(name))
        self._under_way[name] = task
        task.add_done_callback(lambda _: self._under_way.pop(name, None))
        return task

    async def _create(self, name: str) -> None:
        request = CreateTopicsRequest(topics=[self._topic(name)])
        answer = await self._controller.ask(request, _VERSION, CreateTopicsResponse)
        for each in answer.topics:
            if each.error_code not in _EXPECTED:
                log.warning("cannot create %s: %s", name, each.error_message)
        await self._hosted()

    def _topic(self, name: str) -> CreatableTopic:
        config = self._config
        if name == OFFSETS_TOPIC:
            wanted = {"cleanup.policy": "compact", "compression.type": "producer"}
            return self._internal(name, "offsets.topic", wanted)
        if name == TRANSACTIONS_TOPIC:
            prefix = "transaction.state.log"
            wanted = {
                "unclean.leader.election.enable": "false",
                "compression.type": "uncompressed",
                "cleanup.policy": "compact",
                "min.insync.replicas": str(config.get_int(f"{prefix}.min.isr")),
            }
            return self._internal(name, prefix, wanted)
        if name == SHARE_STATE_TOPIC:
            prefix = "share.coordinator.state.topic"
            wanted = {
                "cleanup.policy": "delete",  # which share_pruning.py does
                "retention.ms": "-1",
                "compression.type": "producer",
                "min.insync.replicas": str(config.get_int(f"{prefix}.min.isr")),
            }
            return self._internal(name, prefix, wanted)
        return CreatableTopic(
            name=name,
            num_partitions=_DEFAULT,
            replication_factor=_DEFAULT,
            assignments=[],
            configs=[],
        )

    def _internal(self, name: str, prefix: str, configs: dict[str, str]) -> CreatableTopic:
        config = self._config
        wanted = {
            **configs,
            "segment.bytes": str(config.get_int(f"{prefix}.segment.bytes")),
        }
        return CreatableTopic(
            name=name,
            num_partitions=config.get_int(f"{prefix}.num.partitions"),
            replication_factor=config.get_int(f"{prefix}.replication.factor"),
            assignments=[],
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in wanted.items()],
        )
