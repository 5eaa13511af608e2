"""Pytest fixtures: a broker per session, a topic per test.

With pytest-xdist each worker has a broker of its own. Importing this module costs nothing: the
broker is imported by the first test that wants one.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from snakka.testing import Broker


@pytest.fixture(scope="session")
def snakka_broker() -> "Iterator[Broker]":
    """A Kafka broker in this process, its data in memory: `snakka_broker.bootstrap_servers`."""
    from snakka.testing import Broker

    with Broker() as broker:
        yield broker


@pytest.fixture
def snakka_topic(snakka_broker: "Broker", request: pytest.FixtureRequest) -> str:
    """The name of a new topic with one partition, told from the test's own name."""
    test = re.sub(r"[^A-Za-z0-9._-]+", "-", request.node.name).strip("-")
    name = f"{test[:200]}-{uuid4().hex[:8]}"
    snakka_broker.create_topic(name)
    return name
