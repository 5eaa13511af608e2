"""Snakka side by side with other brokers: `python -m bench.peers`, or `make bench`."""

import argparse
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.peers import machine
from bench.peers.brokers import PEERS
from bench.peers.results import OURS, Results, table
from bench.peers.rounds import Contest
from bench.peers.rows import Row, matching


def main() -> None:
    arguments = _parsed()
    rows = list(matching(arguments.rows, arguments.skip))
    if arguments.list:
        print("\n".join(each.title for each in rows))
        return
    # However it ends, the brokers that it started end with it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("ended before it was done"))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="snakka-bench-", dir=arguments.data) as directory:
        run(arguments, rows, Path(directory))
    if arguments.json:
        print(f"all figures are in {arguments.json}")


def run(arguments: argparse.Namespace, rows: Sequence[Row], directory: Path) -> None:
    peers = [PEERS[OURS], *(PEERS[each] for each in arguments.peers if each != OURS)]
    with Contest(peers, directory) as contest:
        results = Results(
            machine=machine.describe(directory),
            taking_part=contest.taking_part,
            missing=contest.missing,
            rounds=arguments.rounds,
            scale=arguments.scale,
            rows=[],
        )
        for name, why in contest.missing.items():
            print(f"{name} does not take part: {why}")
        for index, row in enumerate(rows):
            measured = contest.measure(row, arguments.rounds, arguments.scale)
            results.rows.append(measured)
            lines = list(table(results, [(row, measured)]))
            print("\n".join(lines if index == 0 else lines[2:]), flush=True)
            for name, why in measured.failures.items():
                print(f"    {name}: {why}")
            if arguments.json:
                results.write(arguments.json)  # after each row: a long run may be cut short


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers",
        description="Ratios of Snakka's figures to those of other brokers, in alternating rounds: "
        "median (least-most). After the unit, + says that more is better and - that less is; "
        "a goal that is missed is in asterisks.",
        epilog="Example: python -m bench.peers --peers kafka raw --rows consume latency --rounds 5",
    )
    parser.add_argument("--peers", nargs="+", choices=sorted(PEERS), default=list(PEERS))
    parser.add_argument("--rows", nargs="+", default=[], metavar="WORD", help="of their titles")
    parser.add_argument("--skip", nargs="+", default=[], metavar="WORD", help="of their titles")
    parser.add_argument("--list", action="store_true", help="the titles of the rows, and no more")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a tenth of the load")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all figures go")
    parser.add_argument("--data", type=Path, metavar="DIR", help="on the disk that is to be used")
    return parser.parse_args()


if __name__ == "__main__":
    main()
