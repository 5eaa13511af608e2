"""Writes the part of docs/benchmarks.md that is about peers: `python -m bench.peers.report FILE`.

FILE is what a run of bench.peers wrote with --json. The rows that fall short of their goal come
first, each with its cause; the pictures go into docs/benchmarks/.
"""

import argparse
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from bench.peers.plots import Measurements, draw
from bench.peers.results import OURS, Results, ratio, table

DOCS: Final = Path(__file__).parents[2] / "docs"
MEASURED: Final = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers.report",
        description="Writes the section on peers of docs/benchmarks.md from the figures of a run.",
        epilog="Example: python -m bench.peers.report .cache/benchmarks.json",
    )
    parser.add_argument("file", type=Path)
    results = Results.read(parser.parse_args().file)
    pictures = DOCS / "benchmarks"
    pictures.mkdir(exist_ok=True)
    page = DOCS / "benchmarks.md"
    text = "\n".join(section(results, pictures)) + "\n"
    page.write_text(MEASURED.sub(lambda match: match[1] + text + match[2], page.read_text()))


def section(results: Results, pictures: Path) -> Iterator[str]:
    yield from _circumstances(results)
    yield from _shortfalls(results)
    for family, group in groupby(results.measured(), key=lambda each: each[0].family):
        rows = list(group)
        if not any(measured.rounds.get(OURS) for _, measured in rows):
            continue
        picture = draw(results, family, rows, pictures)
        yield from ("", f"### {family.capitalize()}", "")
        yield from table(results, rows)
        yield from ("", f"![{family}]({picture.parent.name}/{picture.name})")
        yield from _failures(rows)


def _circumstances(results: Results) -> Iterator[str]:
    machine = "; ".join(f"{name}: {each}" for name, each in results.machine.items())
    yield f"{results.rounds} rounds at scale {results.scale:g}. {machine}."
    yield ""
    yield "| | version | settings |"
    yield "| --- | --- | --- |"
    for name, each in results.taking_part.items():
        yield f"| {name} | {each['version']} | {each['settings']} |"
    for name, why in results.missing.items():
        yield f"| {name} | none | could not be had: {why} |"


def _shortfalls(results: Results) -> Iterator[str]:
    """What misses a goal in every round, and what does in some of them."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for row, measured in results.measured():
        for figure in row.figures:
            for peer in results.others():
                told = ratio(measured, figure, peer)
                if told is not None and not told.meets_goal:
                    line = f"- {row.title}, {figure.unit}: {told} of {peer}'s."
                    cause = row.because.get(figure.key, "")
                    found[told.always_misses].append(f"{line} {cause}".rstrip())
    yield from ("", "### Where Snakka falls short of its goals", "")
    yield from ("In every round:", "", *(found[True] or ["- nowhere"]))
    yield from ("", "In some rounds and not in others:", "", *(found[False] or ["- nowhere"]))


def _failures(rows: Measurements) -> Iterator[str]:
    lines = [
        f"- {row.name}, {peer}: {why}"
        for row, measured in rows
        for peer, why in measured.failures.items()
    ]
    if lines:
        yield from ("", "What failed:", "", *lines)


if __name__ == "__main__":
    main()
