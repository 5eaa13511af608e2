"""A broker for all commands of a module."""

from collections.abc import Iterator

import pytest

from snakka.testing import Broker
from tests.cli.running import Cli


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.faults.clear()


@pytest.fixture
def cli(broker: Broker) -> Cli:
    return Cli(broker)
