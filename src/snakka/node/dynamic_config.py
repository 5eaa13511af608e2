"""The broker's configuration as it is by now: what it was started with, and what was set since.

Settings of all brokers and of this one come with the metadata log (KIP-226). Whoever keeps
something of the configuration follows it here; everybody else reads `current`.

Not here: which keys may be set while a broker runs, and to what (config/checking.py).
"""

import logging
from collections.abc import Callable
from typing import TypeAlias

from snakka.config.broker import BrokerConfig
from snakka.metadata.image import MetadataImage
from snakka.metadata.keys import ConfigResource
from snakka.metadata.loader import Published

log = logging.getLogger(__name__)

Follower: TypeAlias = Callable[[BrokerConfig], None]


class DynamicConfig:
    """Is subscribed to images before those who follow it, so that they see one configuration."""

    def __init__(self, config: BrokerConfig) -> None:
        self.current = config
        self._resources = (ConfigResource.broker(), ConfigResource.broker(config.node_id))
        self._followers: list[Follower] = []

    def follow(self, follower: Follower) -> None:
        """Is told of every configuration from now on."""
        self._followers.append(follower)

    def publish(self, published: Published) -> None:
        changes = published.delta.configs.changes
        if any(each in changes for each in self._resources):
            log.info("the configuration of this broker has changed")
            self._change(published.image)

    def _change(self, image: MetadataImage) -> None:
        self.current = self.current.with_dynamic(
            *(image.configs_of(each) for each in self._resources)
        )
        for follower in self._followers:
            follower(self.current)
