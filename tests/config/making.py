"""Configurations for the tests: a standalone node, and what a test changes of it."""

from collections.abc import Mapping

import pytest

from snakka.config.broker import BrokerConfig
from snakka.config.loading import load_broker_config
from snakka.config.problems import ConfigurationError
from snakka.config.sources import Setting

STANDALONE = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:9093",
}


def settings(changes: Mapping[str, str]) -> list[Setting]:
    return [Setting(*each, "test") for each in (*STANDALONE.items(), *changes.items())]


def loaded(changes: Mapping[str, str] | None = None) -> BrokerConfig:
    return load_broker_config(settings(changes or {}))


def problems_of(changes: Mapping[str, str]) -> list[str]:
    with pytest.raises(ConfigurationError) as raised:
        loaded(changes)
    return [str(each) for each in raised.value.problems]
