"""Our source for Spark beside Spark's own connector, on one broker: rates, then latency.

    python -m bench.pipeline [--small N] [--large N] [--rounds N] [--seconds N]

They run in the Spark that the connector is built for.
"""

import argparse
import tempfile
from pathlib import Path

from bench.pipeline import latency, rates
from snakka.client.settings import DEFAULT_SETTINGS
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread
from tests.compat.broker_process import BrokerProcess


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--small", type=int, default=2_000_000, help="records of 100 bytes")
    parser.add_argument("--large", type=int, default=400_000, help="records of 1 KiB")
    parser.add_argument("--rounds", type=int, default=3, help="0: no rates")
    parser.add_argument("--seconds", type=int, default=20, help="of each latency; 0: none")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, BrokerProcess(Path(directory)) as broker:
        thread = ClusterThread(ClusterAddress(broker.bootstrap, DEFAULT_SETTINGS))
        if arguments.rounds:
            sizes = {100: arguments.small, 1024: arguments.large}
            rates.measure(broker, thread, sizes, arguments.rounds)
        if arguments.seconds:
            latency.measure(broker, thread, Path(directory) / "tables", arguments.seconds)
        thread.close()


if __name__ == "__main__":
    main()
