"""The fixtures, in a test run of their own."""

import pytest

pytest_plugins = ["pytester"]

TESTS = """
from confluent_kafka import Producer

topics = set()

def write(broker, topic):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(topic, b"x")
    assert producer.flush(20) == 0
    topics.add(topic)

def test_one(snakka_broker, snakka_topic):
    write(snakka_broker, snakka_topic)

def test_another(snakka_broker, snakka_topic):
    write(snakka_broker, snakka_topic)
    assert len(topics) == 2 or "PYTEST_XDIST_WORKER" in __import__("os").environ
    assert snakka_topic.startswith("test_another-")
"""


@pytest.mark.parametrize("options", [(), ("--numprocesses", "2")], ids=["alone", "xdist"])
def test_each_test_has_a_topic_and_each_worker_a_broker(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=2)


def test_a_run_without_the_fixtures_imports_no_broker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            assert "snakka.app" not in sys.modules
            assert "snakka.testing" not in sys.modules
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
