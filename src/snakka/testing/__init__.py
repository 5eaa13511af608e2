"""A broker for tests: `Broker` to start one, its `faults` to make it misbehave on cue.

Pytest finds the fixtures `snakka_broker` and `snakka_topic` by itself (snakka/pytest_plugin.py).
"""

from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.testing.broker import Broker
from snakka.testing.faults import FaultScript

__all__ = ["ApiKey", "Broker", "ErrorCode", "FaultScript"]
