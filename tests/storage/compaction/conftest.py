import pytest

from tests.simulation.disk import SimulatedDisk
from tests.storage.compaction.filling import CONFIG
from tests.storage.making import Harness


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    return Harness(disk, CONFIG)
