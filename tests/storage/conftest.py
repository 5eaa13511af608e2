"""A simulated disk with one partition directory on it."""

import random

import pytest

from snakka.storage.open_files import OpenFiles
from tests.simulation.disk import SimulatedDisk

DIRECTORY = "/logs/t-0"


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk(random.Random(0))
    disk.make_directory("/logs")
    disk.make_directory(DIRECTORY)
    return disk


@pytest.fixture
def files(disk: SimulatedDisk) -> OpenFiles:
    return OpenFiles(disk)
