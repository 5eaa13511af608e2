"""What a run found, as a file of JSON; and the table of it."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench.peers.figures import Figure
from bench.peers.rounds import Measured
from bench.peers.rows import ROWS, Row

OURS: Final = "snakka"


@dataclass(slots=True)
class Results:
    machine: dict[str, str]
    taking_part: dict[str, dict[str, str]]
    missing: dict[str, str]
    rounds: int
    scale: float
    rows: list[Measured]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> "Results":
        found = json.loads(path.read_text())
        return cls(**found | {"rows": [Measured(**each) for each in found["rows"]]})

    def others(self) -> list[str]:
        return [each for each in self.taking_part if each != OURS]

    def measured(self) -> Iterator[tuple[Row, Measured]]:
        """The rows of the table that this run has, in the table's order."""
        by_title = {each.title: each for each in self.rows}
        for row in ROWS:
            if row.title in by_title:
                yield row, by_title[row.title]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ours divided by a peer's: the median of the rounds, the least and the most."""

    median: float
    least: float
    most: float
    meets_goal: bool
    always_misses: bool

    def __str__(self) -> str:
        shown = f"{_short(self.median)} ({_short(self.least)}-{_short(self.most)})"
        return shown if self.meets_goal else f"**{shown}**"


def ratio(measured: Measured, figure: Figure, peer: str) -> Ratio | None:
    values = sorted(measured.ratios(OURS, peer, figure.key))
    if not values:
        return None
    middle = values[len(values) // 2]
    if len(values) % 2 == 0:
        middle = (middle + values[len(values) // 2 - 1]) / 2
    best = values[-1] if figure.more_is_better else values[0]
    misses = not figure.meets(peer, best)
    return Ratio(middle, values[0], values[-1], figure.meets(peer, middle), misses)


def table(results: Results, rows: list[tuple[Row, Measured]]) -> Iterator[str]:
    """Markdown: what Snakka measured, and its ratio to each of the others."""
    others = results.others()
    yield f"| | | Snakka | {' | '.join(f'/ {each}' for each in others)} |"
    yield f"| --- | --- | --- |{' --- |' * len(others)}"
    for row, measured in rows:
        for figure in row.figures:
            ours = measured.median(OURS, figure.key)
            cells = [_cell(row, measured, figure, each) for each in others]
            unit = f"{figure.unit} {'+' if figure.more_is_better else '-'}"
            shown = "" if ours is None else _short(ours)
            yield f"| {row.title} | {unit} | {shown} | {' | '.join(cells)} |"


def _cell(row: Row, measured: Measured, figure: Figure, peer: str) -> str:
    if peer in measured.failures:
        return "fails"
    found = ratio(measured, figure, peer)
    return "" if found is None else str(found)


def _short(value: float) -> str:
    """Three digits that count."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.2g}"
