"""The command line."""

import argparse

from snakka import __version__


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="snakka",
        description="A streaming platform that speaks Apache Kafka's protocol.",
        epilog="There is no broker in this version yet: the protocol library is what there is.",
    )
    parser.add_argument("--version", action="version", version=f"snakka {__version__}")
    parser.parse_args()
    parser.print_help()


if __name__ == "__main__":
    main()
