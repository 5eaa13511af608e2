from snakka.storage.clean_shutdown import CleanShutdown, mark_clean, take_mark
from snakka.storage.disk import read_whole, replace_file
from tests.simulation.disk import SimulatedDisk

PATH = "/logs/.kafka_cleanshutdown"


def test_the_mark_is_taken_once(disk: SimulatedDisk) -> None:
    assert take_mark(disk, "/logs") is None
    mark_clean(disk, "/logs", broker_epoch=17)
    assert read_whole(disk, PATH) == b'{"version":0,"brokerEpoch":17}'
    assert take_mark(disk, "/logs") == CleanShutdown(17)
    disk.crash()
    assert take_mark(disk, "/logs") is None


def test_an_unreadable_mark_is_still_a_mark(disk: SimulatedDisk) -> None:
    for content in (b"", b"{}", b'{"brokerEpoch":"x"}', b"[]"):
        replace_file(disk, PATH, content)
        assert take_mark(disk, "/logs") == CleanShutdown(None)
